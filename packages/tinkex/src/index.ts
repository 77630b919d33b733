export {
  type DpoConfig,
  defineConfig,
  type GradeAnswer,
  type ProjectConfig,
  type RlConfig,
  type SftConfig,
  type SharedConfig,
} from './config/project-config.js';
export { EXIT, type ExitCode } from './output/exit-codes.js';
