/** docs/operate/grafana-prometheus.json: a dashboard for Grafana, on what `metrics` has written. */
import { grafanaFile } from './grafana-file.ts';
import { type Panel, ROWS } from './prometheus-rows.ts';

const DATA_SOURCE = { type: 'prometheus', uid: '$datasource' };
/** Of Grafana's 24 columns. */
const WIDTH = 6;
const HEIGHT = 7;
const PER_LINE = 24 / WIDTH;

function panelOf({ title, unit, queries, isStacked }: Panel) {
  return {
    type: 'timeseries',
    title,
    datasource: DATA_SOURCE,
    fieldConfig: {
      defaults: {
        min: 0,
        unit,
        custom: {
          fillOpacity: isStacked === true ? 30 : 0,
          stacking: { mode: isStacked === true ? 'normal' : 'none' },
        },
      },
      overrides: [],
    },
    targets: queries.map(({ expr, legend }, at) => ({
      refId: `Q${at}`,
      datasource: DATA_SOURCE,
      editorMode: 'code',
      range: true,
      expr,
      legendFormat: legend,
    })),
  };
}

/** Each row is a line of its own, and below it its panels, four side by side. */
function panels(): readonly object[] {
  const placed: object[] = [];
  let y = 0;
  const id = (): number => placed.length + 1;
  for (const { title, panels: own } of ROWS) {
    placed.push({ id: id(), type: 'row', title, gridPos: { x: 0, y, w: 24, h: 1 }, panels: [] });
    y += 1;
    for (const [at, panel] of own.entries()) {
      const line = Math.floor(at / PER_LINE);
      const gridPos = { x: (at % PER_LINE) * WIDTH, y: y + line * HEIGHT, w: WIDTH, h: HEIGHT };
      placed.push({ id: id(), gridPos, ...panelOf(panel) });
    }
    y += Math.ceil(own.length / PER_LINE) * HEIGHT;
  }
  return placed;
}

/** A dashboard that Grafana imports; the data source and the clusters are chosen on it. */
export function prometheusDashboard(): string {
  const clusters = 'label_values(karpenter_build_info{instance="joiner"}, cluster)';
  const variables = [
    { type: 'datasource', name: 'datasource', label: 'Prometheus', query: 'prometheus' },
    {
      type: 'query',
      name: 'cluster',
      label: 'Cluster',
      datasource: DATA_SOURCE,
      query: { qryType: 1, query: clusters, refId: 'clusters' },
      definition: clusters,
      refresh: 2,
      multi: true,
      includeAll: true,
      current: { text: 'All', value: '$__all' },
    },
  ];
  const named = { title: 'Joiner on Prometheus', uid: 'joiner-prometheus' };
  return grafanaFile({ ...named, variables, panels: panels() });
}
