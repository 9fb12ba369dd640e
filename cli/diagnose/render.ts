import type { NodeOverlay } from '../../shared/core/model/provisioning.ts';
import { overlayRemark } from '../../shared/core/overlay/remark.ts';
import type { OverlayReport } from '../../shared/core/overlay/resolve.ts';
import { priceText } from '../price-text.ts';
import { table } from '../simulate/table.ts';
import { familyTable } from './families.ts';
import type { Row, Selection } from './rows.ts';
import type { Diagnosis } from './source.ts';

function changeText({ listPrice, price: now, zonesDiffer }: Row): string {
  const text = listPrice === now ? priceText(now) : `${priceText(listPrice)} → ${priceText(now)}`;
  return zonesDiffer ? `${text} *` : text;
}

function rowTable(rows: readonly Row[], { zones }: Selection): string {
  const place = zones ? ['ZONE'] : [];
  const header = ['NODEPOOL', 'OVERLAY', 'INSTANCE TYPE', 'CAPACITY TYPE', ...place];
  const cells = rows.map((row) => [
    row.nodePool,
    row.overlays.length === 0 ? '-' : row.overlays.join(', '),
    row.instanceType,
    row.capacityType,
    ...(zones ? [row.zone ?? ''] : []),
    changeText(row),
    row.capacity.join(', '),
  ]);
  return table([...header, 'PRICE', 'CAPACITY'], cells);
}

/** Overlays of which there is something to know beside their rows. */
function remarks(overlays: readonly OverlayReport[], specs: readonly NodeOverlay[]): string {
  const rows = overlays.flatMap((report) => {
    const { name, weight, ready, reason, message } = report;
    const spec = specs.find((each) => each.name === name);
    const text = ready ? spec && overlayRemark(report, spec) : `${reason}: ${message}`;
    return text === undefined ? [] : [[name, String(weight), ready ? 'True' : 'False', text]];
  });
  return rows.length === 0 ? '' : table(['OVERLAY', 'WEIGHT', 'READY', 'WHY'], rows);
}

/** Rows that are shown as they are; more are shown by family. */
const ROWS_MAX = 60;

/** What changes: the rows themselves, or the families where those are too many to read. */
function changes(rows: readonly Row[], selection: Selection, verbose: boolean): readonly string[] {
  if (rows.length === 0) return ['No overlay changes anything that was asked for.'];
  if (!verbose && rows.length > ROWS_MAX) {
    const count = rows.length.toLocaleString('en');
    return [familyTable(rows), `${count} rows by family; -v lists them by instance type`];
  }
  const differ = rows.some((row) => row.zonesDiffer);
  return [
    rowTable(rows, selection),
    ...(differ ? ['* lowest of several zones that differ; --zones lists them'] : []),
  ];
}

/** Overlays that conflict, are shadowed or match nothing, then what the others change, for people. */
export function renderDiagnosis(
  { resolution, nodeOverlays, rejected, source }: Diagnosis,
  rows: readonly Row[],
  selection: Selection,
  verbose: boolean,
): string {
  const { overlays: asked } = selection;
  const reports = resolution.overlays.filter(
    ({ name }) => asked.length === 0 || asked.includes(name),
  );
  const refused = Object.entries(rejected).map(([name, why]) => `${name}: ${why.join('; ')}`);
  return [
    remarks(reports, nodeOverlays),
    refused.length === 0 ? '' : `Refused, and left out:\n  ${refused.join('\n  ')}`,
    ...changes(rows, selection, verbose),
    source.split(' (')[0] ?? source,
  ]
    .filter((each) => each !== '')
    .join('\n\n')
    .concat('\n');
}
