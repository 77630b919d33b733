export { EXIT, type ExitCode } from './output/exit-codes.js';
