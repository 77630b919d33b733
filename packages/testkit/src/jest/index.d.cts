// What `require` returns: the same as `import`. The bundle beside it is written by scripts/build/bundle.mjs.
type Entry = typeof import('./index.js', { with: { 'resolution-mode': 'import' }});

export type {
  ExpectedCalls,
  JestServerOptions,
  RemoteCall,
  RemoteCallFilter,
  RemoteScript,
  RemoteServer,
  ServerProcessOptions,
  TestHooks,
} from './index.js' with { 'resolution-mode': 'import' };

export declare const useTinkexServer: Entry['useTinkexServer'];
