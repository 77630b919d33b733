import { after, before, type Recipe } from '../recipe.js';
import { changeset } from './changeset.js';

const DOCUMENTATION = 'A heartbeat was answered after others were missed.';

const PUBLISHER = 'src/service';

/** `tinkex:session:heartbeat_recovered`, published by the heartbeat. */
export const addEvent: Recipe = {
  page: 'add-event',
  edits: [
    before(
      'packages/types/src/events/payloads.ts',
      '/** A shared sampling backoff. */',
      `/** The first heartbeat that was answered after missed ones. */
export interface HeartbeatRecoveredEvent extends SessionEvent {
  /** How many were missed. */
  readonly missed: number;
}

`,
    ),
    after('packages/types/src/events/events.ts', '  HeartbeatMissedEvent,\n', '  HeartbeatRecoveredEvent,\n'),
    after(
      'packages/types/src/events/events.ts',
      "  'tinkex:session:heartbeat_missed': HeartbeatMissedEvent;\n",
      `  /** ${DOCUMENTATION} */\n  'tinkex:session:heartbeat_recovered': HeartbeatRecoveredEvent;\n`,
    ),
    after('packages/types/src/index.ts', '  HeartbeatMissedEvent,\n', '  HeartbeatRecoveredEvent,\n'),
    before(`packages/clients/${PUBLISHER}/heartbeat.ts`, '  let timer: unknown;', '  let missedBeats = 0;\n'),
    after(
      `packages/clients/${PUBLISHER}/heartbeat.ts`,
      "publish('tinkex:session:heartbeat', { ...event(), durationMs: betweenMs(startedAt, lastSuccessAt) });\n",
      `      if (missedBeats > 0) publish('tinkex:session:heartbeat_recovered', { ...event(), missed: missedBeats });
      missedBeats = 0;
`,
    ),
    before(`packages/clients/${PUBLISHER}/heartbeat.ts`, '    const sinceLastSuccessMs = ', '    missedBeats += 1;\n'),
    before(
      `packages/clients/${PUBLISHER}/start-session.test.ts`,
      "  it('publishes start, heartbeats and end",
      `  it('publishes nothing about a recovery when no heartbeat was missed', async () => {
    const missed: number[] = [];
    const stop = subscribe('tinkex:session:heartbeat_recovered', (event) => missed.push(event.missed));
    const server = miniServer();
    await server.clock.runUntil(server.service.sessionId());
    await server.clock.advance(10_000);
    await server.service.close();
    stop();
    expect(missed).toEqual([]);
  });

`,
    ),
    after(
      'packages/telemetry/src/events/catalogue.ts',
      "  'tinkex:session:heartbeat_missed': { level: 'warn', fields: { ...REQUEST, errorCode: true, sinceLastSuccessMs: true } },\n",
      "  'tinkex:session:heartbeat_recovered': { level: 'info', fields: { ...REQUEST, missed: true } },\n",
    ),
    after(
      'packages/telemetry/src/metrics/session-metrics.ts',
      "heartbeats.with(baseUrl, 'missed').add(1),\n",
      "    'tinkex:session:heartbeat_recovered': ({ baseUrl }) => heartbeats.with(baseUrl, 'recovered').add(1),\n",
    ),
    before(
      'packages/telemetry/test/sample-events.ts',
      "  'tinkex:session:end': (overrides)",
      "  'tinkex:session:heartbeat_recovered': (overrides) => ({ ...source, sessionId: 'session-a', missed: 2, ...overrides }),\n",
    ),
    before(
      'docs/guides/telemetry.md',
      '| `tinkex:session:end` |',
      `| \`tinkex:session:heartbeat_recovered\` | ${DOCUMENTATION} | info | \`missed\` |\n`,
    ),
    changeset('The event `tinkex:session:heartbeat_recovered` says that heartbeats are answered again.', 'types', 'telemetry', 'clients'),
  ],
  typecheck: ['types', 'telemetry', 'clients'],
  tests: {
    telemetry: ['test/events-table.test.ts', 'test/consumers.test.ts', 'src/events/pick-fields.test.ts'],
    clients: [`${PUBLISHER}/start-session.test.ts`],
  },
};
