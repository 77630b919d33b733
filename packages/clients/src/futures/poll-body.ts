import { endpoints, stringifyJson } from '@tinkex/types/wire';

const ID_MARK = 'request-id-mark';

/** The text around the promise's id, written once by the codec: a poll differs from the next in nothing else. */
function around(allowMetadataOnly: boolean): readonly [string, string] {
  const text = stringifyJson(endpoints.retrieveFuture.request.encode({ requestId: ID_MARK, allowMetadataOnly }));
  const [before = '', after = ''] = text.split(JSON.stringify(ID_MARK));
  return [before, after];
}

const texts = new Map<boolean, readonly [string, string]>();

/** The JSON of one poll. */
export function pollBody(requestId: string, allowMetadataOnly: boolean): Uint8Array {
  let text = texts.get(allowMetadataOnly);
  if (text === undefined) {
    text = around(allowMetadataOnly);
    texts.set(allowMetadataOnly, text);
  }
  return Buffer.from(text[0] + JSON.stringify(requestId) + text[1]);
}
