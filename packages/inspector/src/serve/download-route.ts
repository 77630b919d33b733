import { redactText } from '@tinkex/types/wire';
import type { DownloadCallback } from '../api/chat.js';
import { readJsonObject } from './read-body.js';
import { problemResponse } from './responses.js';

const MAX_BODY_BYTES = 64 * 1024;
const MAX_MESSAGE = 500;

/** Downloads a checkpoint and says where it is. */
export async function answerDownload(request: Request, download: DownloadCallback | undefined): Promise<Response> {
  if (download === undefined) return problemResponse(404, 'This program passes no download callback to the inspector.');
  const path = (await readJsonObject(request, MAX_BODY_BYTES))?.['path'];
  if (typeof path !== 'string' || !path.startsWith('tinker://')) return problemResponse(400, 'The request needs the path of a checkpoint.');
  try {
    return Response.json({ savedTo: await download(path, { signal: request.signal }) });
  } catch (error) {
    return problemResponse(502, redactText(error instanceof Error ? error.message : String(error), MAX_MESSAGE));
  }
}
