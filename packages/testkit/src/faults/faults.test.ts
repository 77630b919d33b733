import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { CHAOS_KINDS, chaosReply, FAULT_KINDS, needsRealReply, planDelivery } from './faults.js';

const BODY = Uint8Array.from({ length: 9 }, (_, index) => index);

describe.each(FAULT_KINDS)('%s', (kind) => {
  it.each([BODY, new Uint8Array(0)])('promises what it sends, or breaks off before', (body) => {
    const { head, end, body: sent, contentLength } = planDelivery(body, { kind });
    if (end === 'complete') expect({ head, length: sent.length }).toEqual({ head: 'whole', length: contentLength });
    else expect(sent.length).toBeLessThan(contentLength);
    if (head !== 'whole') expect(sent).toHaveLength(0);
  });

  it('is explained in the guide', async () => {
    expect(await readFile(new URL('../../../../docs/guides/testing.md', import.meta.url), 'utf8')).toContain(`\`${kind}\``);
  });
});

describe('chaos kinds', () => {
  it('that are statuses reply with theirs, the others leave the reply and add a fault', () => {
    const reply = { status: 200, headers: {}, body: 'x' };
    for (const kind of CHAOS_KINDS) {
      const struck = chaosReply(kind, 'healthz', reply);
      const status = /^status-(\d+)/.exec(kind)?.[1];
      expect(struck, kind).toMatchObject(status === undefined ? { ...reply, fault: { kind } } : { status: Number(status) });
    }
  });

  it('need a real reply only where it is let through', () => {
    expect(CHAOS_KINDS.filter(needsRealReply)).toEqual(['drip', 'corrupt']);
  });
});
