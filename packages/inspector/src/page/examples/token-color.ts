import type { ExampleToken } from '../../api/activity-views.js';

/** What the tokens are colored by. */
export type ColorBy = 'weight' | 'logprob' | 'difference';

/** The background of a token; empty for none. Colors are those of the style sheet, as strong as the value. */
export function tokenColor(token: ExampleToken, by: ColorBy): string {
  const { weight, logprob, samplerLogprob } = token;
  if (by === 'weight') {
    if (weight === 0) return '';
    return weight > 0 ? rgb('--weight', Math.min(1, weight)) : rgb('--away', Math.min(1, -weight));
  }
  if (logprob === undefined) return '';
  // A likely token is pale; a surprise stands out.
  if (by === 'logprob') return rgb('--warm', Math.min(1, -logprob / 6));
  if (samplerLogprob === undefined) return '';
  const difference = logprob - samplerLogprob;
  return difference >= 0 ? rgb('--weight', Math.min(1, difference * 2)) : rgb('--away', Math.min(1, -difference * 2));
}

function rgb(name: string, strength: number): string {
  return strength < 0.02 ? '' : `rgb(var(${name}) / ${(0.08 + 0.47 * strength).toFixed(2)})`;
}
