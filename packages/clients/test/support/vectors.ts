export { readVectors } from '../../../../vectors/read.js';
