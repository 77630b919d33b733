export { readVectors as vectors } from '../../../../vectors/read.js';
