/** docs/operate/grafana-dashboard.json: the dashboard of the stack for Grafana, on CloudWatch. */
import { dashboardWidgets, type Line, type Widget } from './body.ts';
import { grafanaFile } from './grafana-file.ts';

const DATA_SOURCE = { type: 'cloudwatch', uid: '$datasource' };

/** The cluster of the template becomes a variable of the dashboard. */
function withCluster(text: string): string {
  return text.replaceAll(/\bdemo\b/g, '$cluster');
}

function target({ label, id, isHidden, periodSeconds, expression, metric }: Line, at: number) {
  const common = {
    refId: `Q${at}`,
    datasource: DATA_SOURCE,
    queryMode: 'Metrics',
    metricQueryType: 0,
    region: '$region',
    id: id ?? `q${at}`,
    label,
    hide: isHidden,
    period: String(periodSeconds),
  };
  if (metric === undefined) return { ...common, metricEditorMode: 1, expression };
  const { namespace, name: metricName, dimension, statistic } = metric;
  const [key, value] = dimension;
  const dimensions = { [key]: withCluster(value) };
  const exact = { matchExact: true, metricEditorMode: 0, expression: '' };
  return { ...common, ...exact, namespace, metricName, dimensions, statistic };
}

type Graph = Extract<Widget, { readonly type: 'graph' }>;

function fieldConfig({ axis, max, limits }: Graph) {
  const steps = [
    { color: 'transparent', value: null },
    ...limits.map(({ value }) => ({ color: 'red', value })),
  ];
  return {
    defaults: {
      min: 0,
      ...(max === undefined ? {} : { max }),
      custom: {
        axisLabel: axis,
        lineInterpolation: 'stepAfter',
        thresholdsStyle: { mode: limits.length === 0 ? 'off' : 'dashed' },
      },
      thresholds: { mode: 'absolute', steps },
    },
    overrides: [],
  };
}

function panelOf(widget: Exclude<Widget, { readonly type: 'alarm' }>): object {
  switch (widget.type) {
    case 'text':
      return { type: 'text', options: { mode: 'markdown', content: widget.markdown } };
    case 'table': {
      const logs = {
        refId: 'Q0',
        datasource: DATA_SOURCE,
        queryMode: 'Logs',
        region: '$region',
        expression: widget.query,
        logGroupNames: widget.logGroups.map(withCluster),
      };
      const { title } = widget;
      return { type: 'table', title, datasource: DATA_SOURCE, targets: [logs] };
    }
    case 'graph': {
      const { title, lines, limits } = widget;
      const description = limits.map(({ label }) => label).join(', ');
      const named = { type: 'timeseries', title, description, datasource: DATA_SOURCE };
      return { ...named, fieldConfig: fieldConfig(widget), targets: lines.map(target) };
    }
  }
}

function variable(name: string, label: string, value: string) {
  return { type: 'textbox', name, label, query: value, current: { text: value, value } };
}

/** Alarms are in CloudWatch alone: their row is left out. */
function shown(widgets: readonly Widget[]) {
  const alarms = widgets.find(({ type }) => type === 'alarm');
  const above = alarms === undefined ? 0 : alarms.y + alarms.height;
  return widgets.flatMap((each) =>
    each.type === 'alarm' || each.y < above ? [] : [{ ...each, y: each.y - above }],
  );
}

/** A dashboard that Grafana imports; region and cluster are asked for. */
export function grafanaDashboard(): string {
  const panels = shown(dashboardWidgets()).map((widget, at) => ({
    id: at + 1,
    gridPos: { x: widget.x, y: widget.y, w: widget.width, h: widget.height },
    ...panelOf(widget),
  }));
  const variables = [
    { type: 'datasource', name: 'datasource', label: 'CloudWatch', query: 'cloudwatch' },
    variable('region', 'Region', 'us-east-1'),
    variable('cluster', 'Cluster', 'my-cluster'),
  ];
  return grafanaFile({ title: 'Joiner', uid: 'joiner', variables, panels });
}
