/**
 * Gate: the public surface of each entry point is what its committed report says. With `--write` the reports are brought up to date;
 * the diff of the files in etc/ is then what a reviewer reads.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Extractor, ExtractorConfig, type ExtractorMessage, type IConfigFile } from '@microsoft/api-extractor';
import { publishedPackages, root, type WorkspacePackage } from '../packages.mjs';
import { build } from './pack.js';

import { verdict } from './verdict.js';

/** The type wants members of a const enum, which isolated modules cannot name; the values are these strings. */
const MESSAGES = {
  compilerMessageReporting: { default: { logLevel: 'warning' } },
  extractorMessageReporting: {
    default: { logLevel: 'warning' },
    // Everything exported is public; we have no other release stages.
    'ae-missing-release-tag': { logLevel: 'none' },
    'ae-undocumented': { logLevel: 'none' },
    // A type that users meet but cannot name is noted in the report, where a reviewer decides.
    'ae-forgotten-export': { logLevel: 'none', addToApiReportFile: true },
    'ae-unresolved-link': { logLevel: 'none' },
  },
  tsdocMessageReporting: { default: { logLevel: 'none' } },
} as unknown as NonNullable<IConfigFile['messages']>;

/** Where api-extractor writes what it found, before it is compared with the committed report. */
const REPORTS = join(root, 'temp', 'api');

const isWriting = process.argv.includes('--write');

await build();
const entries = publishedPackages().flatMap((one) =>
  one.entries.map((entry) => ({ ...entry, one, report: reportName(one, entry.subpath) })),
);
const problems = [...entries.flatMap(check), ...publishedPackages().flatMap(leftOver)];
verdict(isWriting ? 'api' : 'api:check', `${entries.length} entry points`, problems);

function reportName({ name }: WorkspacePackage, subpath: string): string {
  return `${name}${subpath.slice(1).replaceAll('/', '-')}.api.md`;
}

function check({ one, types, report }: (typeof entries)[number]): string[] {
  const problems: string[] = [];
  const { apiReportChanged } = Extractor.invoke(configuration(one, types, report), {
    localBuild: isWriting,
    messageCallback: (message) => {
      const problem = describe(message, one);
      if (problem !== undefined) problems.push(problem);
    },
  });
  const text = readFileSync(join(REPORTS, report), 'utf8');
  problems.push(
    ...undocumented(text).map((name) => `${one.id}: ${name} is exported without documentation`),
    ...refusesUndefined(text).map((line) => `${one.id}: ${line} must accept undefined, for users of exactOptionalPropertyTypes`),
  );
  if (apiReportChanged && !isWriting) {
    problems.push(
      `packages/${one.name}/etc/${report} no longer describes ${one.id}: run \`pnpm api\`, read the diff, commit it with a changeset`,
    );
  }
  return problems;
}

/** api-extractor's own chatter is dropped; what it finds wrong with our declarations is a problem. */
function describe(message: ExtractorMessage, { id }: WorkspacePackage): string | undefined {
  message.handled = true;
  if (message.logLevel !== 'error' && message.logLevel !== 'warning') return undefined;
  if (message.messageId.startsWith('console-api-report')) return undefined;
  const where =
    message.sourceFilePath === undefined ? id : `${message.sourceFilePath.replace(`${root}/`, '')}:${message.sourceFileLine ?? 0}`;
  return `${where}: ${message.text} (${message.messageId})`;
}

function configuration({ dir, needsNode }: WorkspacePackage, types: string, report: string): ExtractorConfig {
  mkdirSync(join(dir, 'etc'), { recursive: true });
  const configObject: IConfigFile = {
    projectFolder: dir,
    mainEntryPointFilePath: join(dir, types),
    newlineKind: 'lf',
    // Without the source condition: other packages are seen as their users see them, through their built declarations.
    compiler: {
      overrideTsconfig: {
        compilerOptions: {
          target: 'es2022',
          lib: ['es2023', 'esnext.disposable'],
          module: 'nodenext',
          moduleResolution: 'nodenext',
          strict: true,
          exactOptionalPropertyTypes: true,
          skipLibCheck: true,
          types: needsNode ? ['node'] : [],
        },
        include: ['dist/**/*.d.ts'],
      },
    },
    apiReport: { enabled: true, reportFileName: report, reportFolder: join(dir, 'etc'), reportTempFolder: REPORTS },
    docModel: { enabled: false },
    dtsRollup: { enabled: false },
    tsdocMetadata: { enabled: false },
    messages: MESSAGES,
  };
  return ExtractorConfig.prepare({ configObject, configObjectFullPath: undefined, packageJsonFullPath: join(dir, 'package.json') });
}

/** The exports that have no comment at all. Whether each of their members needs a sentence is for the reviewer. */
function undocumented(report: string): string[] {
  return [
    ...report.matchAll(/^\/\/ @public[^\n]*\(undocumented\)[^\n]*\n(?:\/\/[^\n]*\n)*(?:export )?(?:declare |abstract )*(\w+ \w+)/gm),
  ].map(([, declaration = '']) => declaration);
}

/** Optional properties that a user of `exactOptionalPropertyTypes` cannot set to undefined. Types over several lines are for the reviewer. */
function refusesUndefined(report: string): string[] {
  const properties = report.matchAll(/^ {4,}(?:readonly )?\w+\?: (?!.*\b(?:undefined|unknown)\b)[^{(\n]*;$/gm);
  return [...properties].map(([line]) => line.trim());
}

/** A report whose entry point is gone. */
function leftOver(one: WorkspacePackage): string[] {
  const folder = join(one.dir, 'etc');
  if (!existsSync(folder)) return [];
  const known = new Set(one.entries.map(({ subpath }) => reportName(one, subpath)));
  const stale = readdirSync(folder).filter((file) => file.endsWith('.api.md') && !known.has(file));
  if (isWriting) for (const file of stale) rmSync(join(folder, file));
  return isWriting ? [] : stale.map((file) => `packages/${one.name}/etc/${file} belongs to no entry point`);
}
