import { describe, expect, it } from 'vitest';
import { HOSTNAME, ZONE } from '../../../shared/core/model/labels.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../shared/core/model/snapshot.ts';
import { attempts, Known } from '../../../shared/core/scheduling/attempts.ts';
import { budgetsOf } from '../../../shared/core/scheduling/effort.ts';
import { Relaxations } from '../../../shared/core/scheduling/packing/pod-values.ts';
import { suitableNodes } from '../../../shared/core/scheduling/placing/grow.ts';
import { compileProblem } from '../../../shared/core/scheduling/problem/compile.ts';
import type { PreferenceKind } from '../../../shared/core/scheduling/problem/problem.ts';
import { below, numbers } from '../../../shared/core/scheduling/pseudo-random.ts';
import {
  type ResolvedClass,
  SearchContext,
  SearchState,
} from '../../../shared/core/scheduling/search/search-state.ts';
import { ofApp, spreadOver, termOver } from '../../builders/affinity.ts';
import { nodeOf, podsOf, snapshotOf, ZONES } from '../../builders/scheduling.ts';

const port = { protocol: 'TCP', ip: '0.0.0.0', port: 80 } as const;

const preferred = (zone: string) => ({
  weight: 7,
  term: {
    matchExpressions: [{ key: ZONE, operator: 'In' as const, values: [zone] }],
    matchFields: [],
  },
});

/** Pods of every kind of term about other pods, and nodes that they fill. */
function contextOf(kinds: readonly PreferenceKind[]): SearchContext {
  const spreadOf = (app: string, rest = {}) => [spreadOver(ZONE, ofApp(app), rest)];
  const terms = {
    plain: {},
    spread: { topologySpread: spreadOf('spread') },
    soft: { topologySpread: spreadOf('soft', { whenUnsatisfiable: 'ScheduleAnyway' }) },
    apart: { podAntiAffinity: [termOver(HOSTNAME, ofApp('apart'))] },
    alone: { podAntiAffinity: [termOver(ZONE, ofApp('spread'))] },
    follower: { podAffinity: [termOver(HOSTNAME, ofApp('apart'))] },
    near: { podAffinity: [termOver(ZONE, ofApp('soft'))] },
    ports: { hostPorts: [port] },
    choosy: { preferredNodeAffinity: [preferred('zone-b')] },
  };
  const pods = Object.entries(terms).flatMap(([app, spec], at) =>
    podsOf(12, app, { cpu: 300 + 100 * (at % 4), ...spec }, { labels: { app } }),
  );
  const nodes = Array.from({ length: 12 }, (_, at) =>
    nodeOf(`n${at}`, 1 + (at % 3), 64, { zone: ZONES[at % 3] ?? 'zone-a' }),
  );
  const problem = compileProblem(snapshotOf({ nodes, pods }), DEFAULT_SCHEDULING_SETTINGS);
  return new SearchContext(problem, { kinds: new Set(kinds) });
}

/** Every node looked at. */
function bestOfAll(state: SearchState, resolved: ResolvedClass) {
  const able = suitableNodes(state, resolved)
    .filter((existing) => state.canPutOnNode(resolved, existing))
    .map((existing) => ({ existing, penalty: state.penaltyOnNode(resolved, existing) }));
  const least = Math.min(...able.map(({ penalty }) => penalty));
  return able.find(({ penalty }) => penalty === least);
}

describe('the node that takes one more pod', () => {
  it.each([[[]], [['zone', 'pods', 'other']]] as (readonly PreferenceKind[])[][])(
    'is the one that is found among all of them, with the preferences %s',
    (kinds) => {
      const context = contextOf(kinds);
      for (let seed = 1; seed <= 40; seed++) {
        const random = numbers(seed);
        const state = new SearchState(context);
        for (let turn = 0; turn < 60; turn++) {
          const resolved = context.resolvedClasses[below(context.resolvedClasses.length, random)];
          if (resolved === undefined || state.leftOf(resolved.podClass) === 0) continue;
          const best = state.bestNode(resolved);
          expect(best).toEqual(bestOfAll(state, resolved));
          if (best !== undefined) state.putOnNode(resolved, best.existing);
        }
      }
    },
  );
});

describe('pods that are spread over many nodes which are nearly full', () => {
  it('take steps for nodes and pods, not for their product, and these count', () => {
    const [nodesCount, each, groups] = [200, 100, 4];
    const nodes = Array.from({ length: nodesCount }, (_, at) =>
      nodeOf(`n${at}`, 1, 64, { zone: ZONES[at % 3] ?? 'zone-a' }),
    );
    const pods = Array.from({ length: groups }, (_, at) => {
      const app = `g${at}`;
      const spec = { cpu: 700 + at, topologySpread: [spreadOver(ZONE, ofApp(app))] };
      return podsOf(each, app, spec, { labels: { app } });
    }).flat();
    const problem = compileProblem(snapshotOf({ nodes, pods }), DEFAULT_SCHEDULING_SETTINGS);
    const context = new SearchContext(problem, { kinds: new Set() });
    const [quick] = budgetsOf('quick');
    if (quick === undefined) throw new Error('there is a quick effort');
    const known = new Known(quick, new Relaxations());
    const found = attempts(context, known);
    const onNodes = ({ state }: (typeof found)[number]) =>
      state.existingNodes.reduce((sum, { content }) => sum + content.size, 0);
    expect(Math.max(...found.map(onNodes))).toBe(nodesCount);
    const counted = known.steps.taken;
    expect(counted).toBeGreaterThan(groups * nodesCount);
    expect(counted).toBeLessThan((groups * nodesCount * each) / 2);
  });
});
