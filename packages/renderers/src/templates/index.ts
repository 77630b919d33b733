export { type TemplateRendererOptions, templateRenderer } from './template-renderer.js';
