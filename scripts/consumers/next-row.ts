import type { Row } from './row.js';

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

/** A route handler that talks to the service. `next build` resolves every import of it, without the optional peers. */
export function nextRow(): Row {
  return {
    name: 'Next.js',
    files: {
      'app/api/models/route.js': ROUTE,
      'app/layout.jsx': LAYOUT,
      'app/page.jsx': 'export default function Page() {\n  return <p>Models</p>;\n}\n',
      'next.config.mjs': 'export default { turbopack: { root: import.meta.dirname + "/../.." } };\n',
    },
    commands: [['node', '../../node_modules/next/dist/bin/next', 'build']],
    env: { NEXT_TELEMETRY_DISABLED: '1' },
    expected: '/api/models',
  };
}
