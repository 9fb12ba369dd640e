import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordsStream, recordsText } from '../../../cli/decisions/render.ts';
import { explainClaim } from '../../../cli/explain/claim.ts';
import { explainPod } from '../../../cli/explain/pod.ts';
import { explainWorkload } from '../../../cli/explain/workload.ts';
import { documentText } from '../../../cli/output.ts';
import { nodeRows } from '../../../cli/top/rows.ts';
import { type Document, readDocument } from '../../../headlamp-plugin/src/model/documents.ts';
import { type ReadDecision, readDecisionSchema } from '../../../shared/api/decision-record.ts';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import { missing } from '../../../shared/core/missing.ts';
import { planningOf, preview } from '../../../shared/preview/preview.ts';
import type { World } from '../../../shared/sim/world.ts';
import { deployment } from '../../sim/small-world.ts';
import { runningWorld, spread, waitingWorld } from '../app/world.ts';

const prices = await loadCatalog('us-east-1');
const ABOUT = { joiner: '0.1.0', cluster: 'https://127.0.0.1', notes: [] };

async function inputOf({ ports, timeline }: World) {
  const state = await ports.cluster.read();
  const nowMs = timeline.nowMs();
  const input = { live: ports.cluster, state, catalog: ports.catalog, prices, nowMs };
  return { input, state, rows: nodeRows(state, prices, nowMs), nowMs };
}

/** What `joiner explain pod -o json` prints of the first pod. */
async function podDocument(world: World): Promise<string> {
  const { input, state, rows } = await inputOf(world);
  const pod = state.objects.pods[0] ?? missing('a pod');
  const found = explainPod(pod, await preview(input), { state, rows }, await planningOf(input));
  return documentText({ ...ABOUT, kind: 'pod', ...found }, 'json');
}

/** What `joiner explain deployment -o json` prints of the Deployment. */
async function workloadDocument(world: World, name: string): Promise<string> {
  const { input, state, rows } = await inputOf(world);
  const workload = { workload: 'Deployment', namespace: 'default', name } as const;
  const { plan } = await preview(input);
  const { pods } = state.objects;
  const around = { state, rows };
  const found = explainWorkload(workload, pods, { plan }, around, await planningOf(input));
  return documentText({ ...ABOUT, kind: 'workload', ...(found ?? missing('a pod')) }, 'json');
}

/** What `joiner explain nodeclaim -o json` prints of the first NodeClaim. */
async function claimDocument(world: World): Promise<string> {
  const { input: read, state, rows } = await inputOf(world);
  const input = { ...read, settings: world.settings };
  const claim = state.objects.nodeClaims[0] ?? missing('a NodeClaim');
  const row = rows.find(({ nodeClaim }) => nodeClaim === claim.name) ?? missing(claim.name);
  const previewed = await preview(input, { asked: claim.name });
  const found = await explainClaim(claim, row, input, previewed);
  return documentText({ ...ABOUT, kind: 'nodeclaim', ...found }, 'json');
}

/** What a world's functions have recorded: a launch, and what they did not do. */
async function recordedDecisions(): Promise<readonly ReadDecision[]> {
  const world = await runningWorld([spread('web', 1), deployment('huge', 1, '900')]);
  return world.recorder.decisions.map((each) =>
    readDecisionSchema.parse(JSON.parse(JSON.stringify(each))),
  );
}

/** The document as lines. */
function linesOf(document: Document): string {
  if (document.kind === 'problem') return document.problem;
  const lines =
    document.kind === 'decisions'
      ? document.rows.flatMap(({ useCase, action, object, chosen, runnerUp, whys }) => [
          `${useCase} ${action} ${object}`,
          ...(chosen === '' ? [] : [`  chosen ${chosen}`]),
          ...(runnerUp === '' ? [] : [`  runner-up ${runnerUp}`]),
          ...whys.map(({ text, remedy }) => `  ${text} → ${remedy}`),
        ])
      : [
          ...document.facts.map(({ name, value }) => `${name}: ${value}`),
          ...document.whys.map(({ text, meaning, remedy }) => `${text} | ${meaning} | ${remedy}`),
        ];
  return `${[document.about, ...lines].join('\n')}\n`;
}

describe('a document of joiner explain', () => {
  it('of a pod that waits has the offering, the runner-up and the stages', async () => {
    const arm = { 'karpenter.k8s.aws/instance-family': 'm7g' };
    const { world } = await waitingWorld([deployment('arm', 2, '900m', { nodeSelector: arm })]);
    const document = readDocument(await podDocument(world));
    await expect(linesOf(document)).toMatchFileSnapshot('golden/explain-pod.txt');
  });

  it('of a pod that stays pending has its reasons', async () => {
    const { world } = await waitingWorld([deployment('huge', 1, '900')]);
    const text = linesOf(readDocument(await podDocument(world)));
    expect(text).toContain('Place: stays as it is');
    expect(text).toMatch(/NodePool default: .* \| No NodePool has an instance type for the pod/);
  });

  it('of a workload has each pod, and a reason that several have once', async () => {
    const { world } = await waitingWorld([deployment('huge', 2, '900')]);
    const text = linesOf(readDocument(await workloadDocument(world, 'huge')));
    expect(text).toMatch(/^Deployment default\/huge\n/);
    expect(text.match(/^default\/huge-\S+: Pending, stays as it is$/gm)).toHaveLength(2);
    expect(text.match(/\| No NodePool has an instance type for the pod/g)).toHaveLength(1);
    expect(text).toMatch(/^Types of default: /m);
  });

  it('of a workload on nodes has these', async () => {
    const world = await runningWorld([spread('web', 2)]);
    const text = linesOf(readDocument(await workloadDocument(world, 'web')));
    expect(text.match(/^default\/web-\S+: Running, is on a node, ip-/gm)).toHaveLength(2);
  });

  it('of a pod on a node has the node', async () => {
    const world = await runningWorld([spread('web', 1)]);
    const text = linesOf(readDocument(await podDocument(world)));
    expect(text).toContain('Place: is on a node');
    expect(text).toMatch(/^Node: ip-/m);
  });

  it('of a NodeClaim has its price, its runner-up and what becomes of it', async () => {
    const world = await runningWorld([spread('web', 1)]);
    const document = readDocument(await claimDocument(world));
    await expect(linesOf(document)).toMatchFileSnapshot('golden/explain-claim.txt');
  });
});

describe('a document of joiner decisions', () => {
  it('has each decision with its reason, the newest first', async () => {
    const text = recordsText('demo', 0, await recordedDecisions(), 'json');
    await expect(linesOf(readDocument(text))).toMatchFileSnapshot('golden/records.txt');
  });

  it('may be the lines of --follow, or one of them', async () => {
    const recorded = await recordedDecisions();
    const lines = readDocument(recordsStream(recorded, 'json'));
    expect(lines).toMatchObject({ kind: 'decisions', about: `${recorded.length} decisions` });
    const one = readDocument(recordsStream(recorded.slice(0, 1), 'json'));
    expect(one).toMatchObject({ kind: 'decisions', about: '1 decision' });
  });

  it('of another version has what can be read', () => {
    const record = { id: 'a', atMs: 1, useCase: 'u', object: 'Node/n', action: 'x', message: 'm' };
    const odd = { ...record, reasons: [{ code: 'new', parameters: {} }], detail: { chosen: 7 } };
    expect(linesOf(readDocument(JSON.stringify({ decisions: [odd, record] })))).toBe(
      ['2 decisions', 'u x Node/n', '  m → ', 'u x Node/n', '  m → ', ''].join('\n'),
    );
  });
});

describe('another text', () => {
  it.each([
    ['what is no JSON', '{', /^not JSON: expected what joiner decisions/],
    ['another document', '{"kind":"plan"}', /^another document: expected/],
    ['a number', '7', /^another document/],
    ['lines of something else', '{"a":1}\n{"a":2}', /^another document/],
  ])('is refused: %s', (_, text, problem) => {
    expect(linesOf(readDocument(text))).toMatch(problem);
  });

  it('never ends in an exception', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(['problem', 'decisions', 'explanation']).toContain(readDocument(text).kind);
      }),
    );
  });
});
