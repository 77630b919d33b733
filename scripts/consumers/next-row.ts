import type { Row } from './row.js';
import { webAppFiles } from './web-app-rows.js';

const ROUTE = `
import { ServiceClient } from '@tinkex/clients';

export const dynamic = 'force-dynamic';

export async function GET() {
  const service = new ServiceClient({ baseUrl: process.env.TINKER_BASE_URL });
  const { supportedModels } = await service.getServerCapabilities();
  await service.close();
  return Response.json(supportedModels);
}
`;
const LAYOUT = 'export default function Layout({ children }) {\n  return <html lang="en"><body>{children}</body></html>;\n}\n';

/** The app of the guide "In your web app", and a route handler that talks to the service. `next build` resolves every import, without the optional peers. */
export function nextRow(): Row {
  return {
    name: 'Next.js',
    files: {
      ...webAppFiles(),
      'app/api/models/route.js': ROUTE,
      'app/layout.jsx': LAYOUT,
      'next.config.mjs': 'export default { turbopack: { root: import.meta.dirname + "/../.." } };\n',
    },
    commands: [['node', '../../node_modules/next/dist/bin/next', 'build']],
    env: { NEXT_TELEMETRY_DISABLED: '1' },
    expected: '/api/chat',
  };
}
