/** Every generated file of the documentation but docs/permissions.md, with its text. */
import { contentsPage, llmsText } from './contents-pages.ts';
import { dashboardDrawing } from './dashboard/drawing.ts';
import { grafanaDashboard } from './dashboard/grafana.ts';
import { prometheusDashboard } from './dashboard/prometheus.ts';
import { alarmsPage } from './reference/alarms.ts';
import { commandsPage } from './reference/commands.ts';
import { conditionsPage } from './reference/conditions.ts';
import { eventsPage } from './reference/events.ts';
import { FIELD_PAGES, fieldsPage } from './reference/fields.ts';
import { labelsPage } from './reference/labels.ts';
import { metricsPage } from './reference/metrics.ts';
import { rbacPage } from './reference/rbac.ts';
import { reasonsPage } from './reference/reasons.ts';
import { schemaFiles, schemasPage } from './reference/schemas.ts';
import { settingsPage } from './reference/settings.ts';

/** By path. */
export async function generatedFiles(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['docs/reference/commands.md', await commandsPage()],
    ['docs/reference/settings.md', settingsPage()],
    ['docs/reference/labels.md', await labelsPage()],
    ['docs/reference/metrics.md', metricsPage()],
    ['docs/reference/alarms.md', alarmsPage()],
    ['docs/reference/events.md', eventsPage()],
    ['docs/reference/conditions.md', conditionsPage()],
    ['docs/reference/rbac.md', rbacPage()],
    ['docs/reasons.md', reasonsPage()],
    ['docs/reference/schemas.md', schemasPage()],
    ...Object.entries(FIELD_PAGES).map(
      ([name, page]) => [`docs/reference/${name}.md`, fieldsPage(page)] as const,
    ),
    ...schemaFiles(),
    ['docs/operate/dashboard.svg', dashboardDrawing()],
    ['docs/operate/grafana-dashboard.json', grafanaDashboard()],
    ['docs/operate/grafana-prometheus.json', prometheusDashboard()],
    ['docs/README.md', contentsPage()],
    ['docs/.vitepress/public/llms.txt', llmsText()],
  ]);
}
