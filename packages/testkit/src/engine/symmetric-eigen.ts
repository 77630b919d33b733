/** The eigenvalues of a symmetric matrix, and its eigenvectors as the columns of `vectors`, row-major. */
export interface Eigen {
  readonly values: Float64Array;
  readonly vectors: Float64Array;
}

const MAX_SWEEPS = 40;

/**
 * Cyclic Jacobi rotations: exact to rounding for the small matrices of an adapter's rank, and the same bits on every machine, because nothing
 * but arithmetic and square roots is used. `matrix` is row-major and is overwritten.
 */
export function eigenOfSymmetric(matrix: Float64Array, size: number): Eigen {
  const vectors = new Float64Array(size * size);
  for (let index = 0; index < size; index++) vectors[index * size + index] = 1;
  for (let sweep = 0; sweep < MAX_SWEEPS; sweep++) {
    let hasRotated = false;
    for (let p = 0; p < size - 1; p++) {
      for (let q = p + 1; q < size; q++) hasRotated = rotate(matrix, vectors, size, p, q) || hasRotated;
    }
    if (!hasRotated) break;
  }
  return { values: Float64Array.from({ length: size }, (_, index) => matrix[index * size + index] as number), vectors };
}

/** Makes entry (p, q) zero. False when it was negligible already. */
function rotate(matrix: Float64Array, vectors: Float64Array, size: number, p: number, q: number): boolean {
  const offDiagonal = matrix[p * size + q] as number;
  const pp = matrix[p * size + p] as number;
  const qq = matrix[q * size + q] as number;
  if (Math.abs(offDiagonal) <= Number.EPSILON * Math.sqrt(Math.abs(pp * qq))) return false;
  const theta = (qq - pp) / (2 * offDiagonal);
  const tangent = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const cosine = 1 / Math.sqrt(tangent * tangent + 1);
  const sine = tangent * cosine;
  for (let k = 0; k < size; k++) turn(matrix, k * size + p, k * size + q, cosine, sine);
  for (let k = 0; k < size; k++) turn(matrix, p * size + k, q * size + k, cosine, sine);
  for (let k = 0; k < size; k++) turn(vectors, k * size + p, k * size + q, cosine, sine);
  return true;
}

function turn(values: Float64Array, first: number, second: number, cosine: number, sine: number): void {
  const a = values[first] as number;
  const b = values[second] as number;
  values[first] = cosine * a - sine * b;
  values[second] = sine * a + cosine * b;
}
