import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import './style/base.css';
import './style/shell.css';
import './style/controls.css';
import './style/parts.css';
import './checkpoints/checkpoints.css';
import './examples/examples.css';
import './export/export.css';
import './metrics/metrics.css';
import './playground/playground.css';
import './rollouts/rollouts.css';
import './runs/runs.css';
import './timeline/timeline.css';
import { installShortcuts } from './app/keyboard.js';
import { installRouting } from './app/route.js';
import { Shell } from './app/shell.js';
import { connect } from './app/store.js';
import { installTheme } from './app/theme.js';

const root = document.getElementById('app');
if (root !== null) {
  installTheme();
  installRouting();
  installShortcuts();
  connect();
  render(<Shell />, root);
}
