import type { CustomLossResult } from '@tinkex/clients';
import type { Datum } from '@tinkex/types';
import { entropyOf } from './self-teacher.js';
import { softmax } from './soft-targets.js';

/**
 * The reverse KL of the student from the teacher over the teacher's k likeliest tokens: with p of the student and q of the teacher, both renormalized, the sum of
 * p·(log p − log q), where the log ratio is held constant in the gradient.
 *
 * @param data - Targets and weights of shape [T, k]; the weights are q, and 0 where a token does not count.
 * @param logprobs - The student's, of the same shape, row by row.
 */
export function reverseKlLoss(data: readonly Datum[], logprobs: readonly ArrayLike<number>[]): CustomLossResult {
  let [loss, entropy, positions] = [0, 0, 0];
  const gradients = data.map(({ lossFnInputs: { weights } }, index) => {
    const teacher = weights?.toNumbers() ?? [];
    const k = weights?.shape?.[1] ?? 1;
    const gradient = teacher.map(() => 0);
    for (let start = 0; start < teacher.length; start += k) {
      const kept = Array.from({ length: k }, (_, offset) => start + offset).filter((at) => (teacher[at] as number) > 0);
      if (kept.length === 0) continue;
      positions++;
      const student = softmax(kept.map((at) => logprobs[index]?.[at] as number));
      const ratios = kept.map((at, rank) => Math.log(student[rank] as number) - Math.log(teacher[at] as number));
      const kl = ratios.reduce((sum, ratio, rank) => sum + (student[rank] as number) * ratio, 0);
      loss += kl;
      entropy += entropyOf(student);
      // The gradient of Σ p·c for constant c: p·(c − Σ p·c).
      for (const [rank, at] of kept.entries()) gradient[at] = (student[rank] as number) * ((ratios[rank] as number) - kl);
    }
    return gradient;
  });
  const mean = (sum: number) => (positions === 0 ? 0 : sum / positions);
  const metrics = {
    'sdft/reverse_kl_loss': loss,
    'sdft/reverse_kl_mean': mean(loss),
    'sdft/student_entropy_mean': mean(entropy),
    'sdft/reverse_kl_positions': positions,
  };
  return { loss, gradients, metrics };
}
