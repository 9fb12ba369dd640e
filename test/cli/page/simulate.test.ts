import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Packing } from '../../../cli/packing/packing.ts';
import { obstaclesText } from '../../../cli/page/draw/why.ts';
import { modelOf } from '../../../cli/page/page.ts';
import type { FinalState } from '../../../shared/sim/report.ts';
import { inFolder } from '../run.ts';
import { printedPage, ROOT, textOf } from './made.ts';

/** What pages of simulations say of what was decided, and of what was not. */

const SPREAD = join(ROOT, 'examples/07-spread-and-spot');
const SCALED = `steps:
  - at: 5m
    scale: { name: shop, replicas: 30 }
  - at: 15m
    scale: { name: shop, replicas: 5 }
`;
const pausedFolder = join(ROOT, 'test/scenarios/pause-windows');

const simulated = (...args: readonly string[]) =>
  printedPage('simulate', ...args, '--region', 'us-east-1');
// One after the other: what they print goes through one standard output.
const scaled = await inFolder({ 'scaled.yaml': SCALED }, (folder) =>
  simulated(SPREAD, '--scenario', join(folder, 'scaled.yaml'), '--duration', '60m'),
);
const paused = await simulated(
  join(pausedFolder, 'manifests'),
  ...['--scenario', join(pausedFolder, 'scenario.yaml'), '--duration', '20m'],
);

const slices = await printedPage(
  'simulate',
  join(ROOT, 'examples/02-gpu-slices'),
  ...['--region', 'eu-west-1', '--duration', '2m'],
);

const returnFolder = join(ROOT, 'test/scenarios/return-to-first-choice');
const returned = await simulated(
  join(returnFolder, 'manifests'),
  ...['--scenario', join(returnFolder, 'scenario.yaml'), '--duration', '15m'],
);

/** It ends before the nodes have joined. */
const begun = await simulated(SPREAD, '--duration', '20s');

/** The part of a page's words under one heading. */
function partOf(page: string, from: string, to: string): string {
  const text = textOf(page);
  const start = text.lastIndexOf(`\n${from}\n`);
  return text.slice(start, text.indexOf(`\n${to}\n`, start));
}

describe('a page of a simulation with pauses', () => {
  it('has every reason why passes changed nothing', () => {
    const part = partOf(paused.page, 'What was not done, and why', 'Pods without a node');
    const { decisions } = paused.json as unknown as FinalState;
    const texts = decisions
      .filter(({ action }) => action === 'unchanged')
      .flatMap(({ reasons: [why] }) =>
        why?.code === 'unchanged' ? why.parameters.reasons.map(({ text }) => text) : [],
      );
    expect(texts.length).toBeGreaterThan(8);
    for (const text of texts) expect(part).toContain(text);
  });

  it('says from when to when a NodePool was paused, and how often passes said the same', () => {
    const part = partOf(paused.page, 'What was not done, and why', 'Pods without a node');
    expect(part).toContain(
      '2m 7m disrupt NodePool/default Disruptions are paused: disrupt from 2 0 * * * for 5m',
    );
    expect(part).toContain(
      '8m 11m provision NodePool/default Launches are paused: launch from 8 0 * * * for 3m',
    );
    // Not so in between: the passes of the pause had other reasons.
    expect(part).toMatch(/^1m 1m 1 disrupt .* pauses disruptions within 10 minutes/m);
    expect(part).toMatch(/^1\dm 20m [2-9] disrupt .* would not run cheaper/m);
    expect(paused.page).toContain(
      'aria-label="Paused: disruptions of NodePool default from 2m to 7m (disrupt from 2 0 * * * for 5m)',
    );
  });

  it('tells of a NodePool that was not ready for a time, and not that it was at first', () => {
    const text = textOf(paused.page);
    expect(text).toMatch(/^8m status NodePool\/default Ready=False \(LaunchesPaused: /m);
    expect(text).toMatch(/^11m status NodePool\/default Ready=True$/m);
    expect(text).not.toMatch(/^0s status/m);
  });
});

describe('a page of a simulation in which pods are elsewhere than planned', () => {
  it('says that nodes were planned for pods, and where the pods are', () => {
    const decisions = partOf(scaled.page, 'Decisions', 'What was not done, and why');
    expect(decisions).toMatch(/at \$0\.0499\/h, planned for 4 pods; runner-up/);
    expect(scaled.page).not.toMatch(/\/h for \d+ pod/);
    expect(decisions).toContain('kube-scheduler binds the pods, on any node that has room');
  });
});

describe('why a pod has no node', () => {
  it('is a sentence, with what each stage left folded under it', () => {
    const decisions = partOf(paused.page, 'Decisions', 'What was not done, and why');
    expect(decisions).toMatch(
      /^9m unschedulable Pod\/\S+ Launches of NodePool default are paused; the existing node does not take it; and 1 other pod\nNodePool default: 1328 types → /m,
    );
  });

  it.each([
    [
      'NodePool a: 9 types → 2 after its requirements → cause: 0 after x In [y] → cause: 0 after z; NodePool b: 1 type → cause: 0 after the NodePool, which is not ready (Ready: Invalid)',
      'NodePool a has no instance type left after x In [y], and NodePool a has no instance type left after z; NodePool b is not ready (Ready: Invalid)',
    ],
    ['no NodePool has room', undefined],
    ['NodePool a: paused; NodePool b: 3 types → 2 after its requirements', undefined],
  ])('of %j is %j', (why, obstacles) => {
    expect(obstaclesText(why)).toBe(obstacles);
  });
});

describe('tables of nodes and pods', () => {
  it('say what is of each and what of all', () => {
    expect(textOf(scaled.page)).toContain(
      "Zone Price/h, each Pods + DaemonSets', all cpu requested / there, all",
    );
  });
});

describe('the costs of a simulation', () => {
  it('are those at the start, the most at one time, and those at the end with the difference', () => {
    const part = partOf(scaled.page, 'What it costs', 'What happened');
    expect(part).toMatch(/^What Cost An hour A month \(730 h\) Note$/m);
    expect(part).toMatch(/^At the start \$0\.3775 \$275\.55 after the first launches, 0s$/m);
    expect(part).toMatch(/^Most at one time \$0\.7549 \$551\.11 after 5m$/m);
    expect(part).toMatch(
      /^At the end \$0\.1572 \$114\.79 list prices; \$0\.2202 an hour less than at the start$/m,
    );
  });
});

describe('the ladders of a page', () => {
  const parts = [paused, slices].map(({ page }) =>
    partOf(page, 'Why these instances', 'Decisions'),
  );
  const [pausedPart = '', slicesPart = ''] = parts;

  it('say of how many types they are, and which zones sell at the same price', () => {
    expect(slicesPart).toContain(
      '8 of 24 offerings of the 8 instance types that the NodeClaim lists: the cheapest of each',
    );
    expect(slicesPart).toMatch(
      /^★ g5\.xlarge on-demand eu-west-1a .* chosen; same price in eu-west-1b, eu-west-1c$/m,
    );
  });

  it('say what kind of offering the runner-up is', () => {
    expect(slicesPart).toMatch(/^☆ g5\.2xlarge .* runner-up, another instance type: holds/m);
    expect(pausedPart).toMatch(
      /^☆ m7g\.xlarge on-demand us-east-1b .* runner-up, the same instance type in another zone: costs the same/m,
    );
  });

  it('say why there is no other offering', () => {
    const bound =
      /no other offering fits: the NodeClaim is for us-east-1a, not us-east-1b, .*us-east-1f, by its NodePool or by spread, affinity or volumes of its pods/;
    const decisions = partOf(paused.page, 'Decisions', 'What was not done, and why');
    expect(decisions).toMatch(bound);
    expect(pausedPart).toContain('Zones: the NodeClaim is for us-east-1a, not us-east-1b');
  });
});

describe('ladders of nodes that have gone', () => {
  it('say so', () => {
    expect(partOf(scaled.page, 'Why these instances', 'Decisions')).toMatch(
      /^2 nodes c6a\.xlarge on-demand of NodePool on-demand: ip-\S+ \(gone\), ip-\S+ \(gone\)$/m,
    );
  });
});

describe('the name of a mark', () => {
  it('tells of what is in it, not of the first alone', () => {
    const [mark = ''] =
      /data-marks="decisions" data-mark="0" aria-label="[^"]*"/.exec(scaled.page) ?? [];
    expect(mark).toContain('0s: 5 decisions. create ');
    expect(mark.match(/create NodeClaim/g)).toHaveLength(4);
    expect(mark).toContain('. And 1 more"');
  });
});

describe('headlines', () => {
  it('have one node, and several', () => {
    expect(textOf(paused.page)).toContain('\n1 node terminated\n');
    expect(textOf(scaled.page)).toContain('\n8 nodes terminated\n');
  });
});

describe('the badge of a NodeOverlay', () => {
  it('says what it adds', () => {
    expect(textOf(slices.page)).toContain('g5.xlarge overlay: adds 4 gpu-slice');
  });
});

describe('the sums of a picture', () => {
  it('tell pods of DaemonSets from others', () => {
    const text = textOf(scaled.page);
    expect(text).toMatch(/^At the end 7 pods and 16 of DaemonSets run on 4 nodes for /m);
    expect(text).toMatch(/\b4 nodes · 7 pods and 16 of DaemonSets · /);
    expect(text).toMatch(/^1 \S+ \S+ .* \d \+ 4 /m);
  });

  it('say what the room for more pods costs, by the fullest resource, and what that is', () => {
    const text = textOf(paused.page);
    // Three nodes of $0.1632: 83 % of cpu is requested, and 8 % of memory.
    expect(text).toContain('cpu 83 % · memory 8 % · room for more pods $0.0841/h');
    expect(text).toContain("is the share of a node's price that is free of its fullest resource");
    expect(text).not.toContain('free room');
  });

  it('count nodes that start by themselves, and no room on them', () => {
    const text = textOf(begun.page);
    expect(text).toMatch(
      /^At the end 0 pods run on 0 nodes, and 5 more start, for \$0\.3775 an hour; /m,
    );
    expect(text).toMatch(/^All NodePools: 5 nodes · .* · \$0\.3775\/h/m);
    expect(text).not.toContain('room for more pods $');
  });
});

describe('a page of a simulation with a move', () => {
  const decisions = partOf(scaled.page, 'Decisions', 'What was not done, and why');

  it('says once what a move of several nodes saves, and what it costs', () => {
    expect(decisions.match(/saves \$0\.1552 an hour/g)).toHaveLength(1);
    expect(decisions).toMatch(
      /replacing 2 nodes \(\$0\.2127 an hour\) with 2 \(\$0\.0574 an hour\) saves \$0\.1552 an hour together\. The cost of the move, \$0\.\d{4}, is repaid in 18 min\./,
    );
  });

  it('says what empty nodes cost that go, and since when they were empty', () => {
    expect(decisions).toMatch(
      /^17m delete NodeClaim\/\S+\nip-\S+ and 2 more\nNodeClaim\/\S+\nip-\S+\nNodeClaim\/\S+\nip-\S+\nThe node has been empty since 15m; consolidateAfter is 120 s; saves \$0\.2679 an hour$/m,
    );
    expect(decisions).not.toContain('2026-01-01');
  });
});

describe('the model of a simulation', () => {
  it('has the reason of the decision at each node that goes', () => {
    const [scene] = modelOf({ command: 'simulate', subject: '', json: scaled.json }).scenes;
    const gone = scene?.nodes.filter(({ life }) => life?.draining != null) ?? [];
    expect(gone).toHaveLength(8);
    for (const { went } of gone) {
      expect(went).toMatch(/cost less on other nodes|Underutilized|has been empty/);
    }
    expect(scene?.nodes.filter(({ went }) => went !== '')).toHaveLength(8);
  });
});

describe('a page of a simulation with replacements', () => {
  const decisions = partOf(scaled.page, 'Decisions', 'What was not done, and why');
  const { packing, totals } = scaled.json as unknown as FinalState & { readonly packing: Packing };

  it('has a row for each launch, with price and runner-up', () => {
    const launches = decisions.match(/^\w+ (create|launch, as replacement) NodeClaim\/\S+$/gm);
    expect(launches).toHaveLength(totals.launched);
    expect(decisions.match(/ launch, as replacement /g)).toHaveLength(2);
    expect(decisions).toMatch(
      /^20m launch, as replacement NodeClaim\/\S+\nip-\S+ \S+ spot in us-east-1\w at \$0\.\d{4}\/h, in the place of \S+; runner-up \S+ spot in us-east-1\w at \$0\.\d{4}\/h: holds the same pods for \$0\.\d{4} more an hour$/m,
    );
  });

  it('marks the runner-up on the ladder of each', () => {
    const replacements = packing.nodes.filter(({ replaces }) => replaces.length > 0);
    expect(replacements).toHaveLength(2);
    for (const { runnerUp, ladder, replaces } of replacements) {
      const offers = packing.ladders[ladder ?? -1]?.offers ?? [];
      expect(offers.map(({ type }) => type)).toContain(runnerUp?.type);
      const gone = packing.nodes.map(({ nodeClaim }) => nodeClaim);
      for (const name of replaces) expect(gone).toContain(name);
    }
  });
});

it('says of each claim that got no instance why, and of each node that returned what it gets', () => {
  const part = partOf(returned.page, 'Decisions', 'What was not done, and why');
  const zones = ['us-east-1a', 'us-east-1b', 'us-east-1c', 'us-east-1d', 'us-east-1f'];
  for (const zone of zones) {
    const why = `not launched: InsufficientInstanceCapacity: no spot capacity for m7g.xlarge in ${zone}`;
    expect(part).toContain(why);
  }
  expect(part.match(/Fallback: its pods get spot in NodePool default again/g)).toHaveLength(2);
});
