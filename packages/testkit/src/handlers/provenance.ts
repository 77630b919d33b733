import type { Datum } from '@tinkex/types';
import { coverageIssues } from '@tinkex/types/wire';
import type { RequestContext } from '../requests/request-context.js';

/** Answers 422 for spans that do not cover their datum, and 400 for sequences that the session did not sample. */
export function checkProvenance(
  context: RequestContext<'forwardBackward'> | RequestContext<'forward'>,
  data: readonly Datum[],
  sessionId: string,
): void {
  let recorded: ReadonlySet<string> | undefined;
  for (const [index, datum] of data.entries()) {
    const { provenance } = datum;
    if (provenance === undefined) continue;
    const [issue] = coverageIssues(datum);
    if (issue !== undefined) context.reject(422, 'body-invalid', `data[${index}].${issue.path} ${issue.message}`);
    if (!context.server.dialect.hasSequenceIds) continue;
    recorded ??= sampledRequests(context, sessionId);
    for (const { sequenceId } of [...provenance.modelInput, ...provenance.targetTokens]) {
      if (recorded.has(requestOf(sequenceId))) continue;
      context.reject(400, 'sequence-unknown', `data[${index}] names the sequence ${sequenceId}, which session ${sessionId} did not sample`);
    }
  }
}

/** A sequence ID is the request ID of its sample and the position of the sequence in the result. */
function requestOf(sequenceId: string): string {
  return sequenceId.slice(0, sequenceId.lastIndexOf(':'));
}

function sampledRequests({ tenant }: Pick<RequestContext, 'tenant'>, sessionId: string): ReadonlySet<string> {
  const samplers = [...tenant.samplers.values()].filter((sampler) => sampler.sessionId === sessionId);
  return new Set(samplers.flatMap(({ accepted }) => [...accepted.values()].map(({ requestId }) => requestId)));
}
