import { withRest } from '../config/connect.js';
import { showRecord } from '../output/show-result.js';
import { type RegisterCommand, runWith } from './command-context.js';
import { examples } from './help-text.js';

/** `tinkex session info` */
export const register: RegisterCommand = (parent, process) => {
  parent
    .command('info')
    .argument('<session-id>')
    .description('Show one session: its training runs, samplers and metadata.')
    .addHelpText('after', examples(['session info 0bd9d4f8', 'what it created']))
    .action(
      runWith(process, async (context, _options, [sessionId = '']) => {
        const session = await withRest(context, (rest) => rest.getSession(sessionId, { signal: context.signal }));
        const { trainingRunIds, samplerIds, userMetadata, displayName } = session;
        await showRecord(context, {
          title: `Session: ${sessionId}`,
          properties: [
            ['Session ID', sessionId],
            ...(displayName === undefined ? [] : [['Name', displayName] as const]),
            ...trainingRunIds.map((id, at) => [at === 0 ? 'Training Runs' : '', id] as const),
            ...samplerIds.map((id, at) => [at === 0 ? 'Samplers' : '', id] as const),
            ...Object.entries(userMetadata ?? {}).map(([name, value]) => [`  - ${name}`, value] as const),
          ],
          json: {
            session_id: sessionId,
            training_run_ids: trainingRunIds,
            sampler_ids: samplerIds,
            user_metadata: userMetadata ?? null,
            display_name: displayName ?? null,
          },
        });
      }),
    );
};
