import { describe, expect, it } from 'vitest';
import { ARCH, HOSTNAME, INSTANCE_TYPE, ZONE } from '../../../shared/core/model/labels.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../shared/core/model/snapshot.ts';
import { separateSpreadPods } from '../../../shared/core/scheduling/placing/spread-exchange.ts';
import { compileProblem } from '../../../shared/core/scheduling/problem/compile.ts';
import {
  type ResolvedClass,
  SearchContext,
  SearchState,
} from '../../../shared/core/scheduling/search/search-state.ts';
import { ofApp, spreadOver, termOver } from '../../builders/affinity.ts';
import { GI, podsOf, poolOf, snapshotOf, typeOf } from '../../builders/scheduling.ts';

/**
 * A node of a plan, always of the cheapest type: its zone, how many pods of each app are on it, and
 * its NodePool if that matters.
 */
type FinalNode = readonly [zone: string, content: Readonly<Record<string, number>>, pool?: string];

type Rest = Parameters<typeof snapshotOf>[0];
type Spec = Parameters<typeof podsOf>[2];

/** As many pods of an app as a test may want, of which 20 are a full node. */
function appOf(app: string, spec: Spec = {}): readonly Pod[] {
  return podsOf(20, app, { cpu: 100, memory: GI / 8, ...spec }, { labels: { app } });
}

const spreadPods = (app: string, maxSkew = 1, spec: Spec = {}): readonly Pod[] =>
  appOf(app, { topologySpread: [spreadOver(ZONE, ofApp(app), { maxSkew })], ...spec });

const TYPES = [typeOf('m.large', 2, 8, 0.1)];

/** The plan after pods of one spread were separated. */
function separatedIn(
  pods: readonly Pod[],
  nodes: readonly FinalNode[],
  rest: Rest = {},
): readonly FinalNode[] {
  const problem = compileProblem(
    snapshotOf({ types: TYPES, pods, ...rest }),
    DEFAULT_SCHEDULING_SETTINGS,
  );
  const state = new SearchState(new SearchContext(problem, { kinds: new Set() }));
  const appOfClass = ({ podClass }: ResolvedClass) => podClass.pods[0]?.labels['app'] ?? '';
  const resolvedClasses = new Map(
    state.context.resolvedClasses.map((resolved) => [appOfClass(resolved), resolved]),
  );
  for (const [zone, content, pool] of nodes) {
    const options = problem.groups
      .filter(({ domain }) => domain.zone === zone)
      .filter((group) => pool === undefined || group.pool.pool.name === pool)
      .flatMap(({ paretoFront }) => paretoFront);
    const bin = state.open({ penalty: 0, options });
    for (const [app, amount] of Object.entries(content)) {
      state.fill(resolvedClasses.get(app) as ResolvedClass, bin, amount);
    }
  }
  separateSpreadPods(state);
  return state.bins.map(({ chosen, content }, at): FinalNode => {
    const apps = [...content].map(([podClass, amount]) => [
      podClass.pods[0]?.labels['app'] ?? '',
      amount,
    ]);
    const [, , ...pool] = nodes[at] ?? [];
    return [chosen.group.domain.zone, Object.fromEntries(apps), ...pool];
  });
}

describe('pods of one spread on one node', () => {
  const web = spreadPods('web');
  const plain = appOf('plain');
  const filler = appOf('filler', { podAntiAffinity: [termOver(HOSTNAME, ofApp('nobody'))] });
  /** Both nodes are full. */
  const full: readonly FinalNode[] = [
    ['zone-a', { web: 2, filler: 18 }],
    ['zone-a', { filler: 18, plain: 2 }],
  ];

  it('move to a node of the zone that has room', () => {
    const nodes: readonly FinalNode[] = [
      ['zone-a', { web: 2 }],
      ['zone-b', { filler: 1 }],
      ['zone-a', { filler: 2 }],
    ];
    expect(separatedIn([...web, ...filler], nodes)).toEqual([
      ['zone-a', { web: 1 }],
      ['zone-b', { filler: 1 }],
      ['zone-a', { filler: 2, web: 1 }],
    ]);
  });

  it('change places with equal pods', () => {
    expect(separatedIn([...web, ...filler, ...plain], full)).toEqual([
      ['zone-a', { web: 1, filler: 18, plain: 1 }],
      ['zone-a', { filler: 18, plain: 1, web: 1 }],
    ]);
  });

  it('change places with pods of another spread where those stay apart, too', () => {
    const other = spreadPods('other');
    const nodes: readonly FinalNode[] = [
      ['zone-a', { web: 3, filler: 17 }],
      ['zone-a', { filler: 19, other: 1 }],
      ['zone-a', { filler: 19, other: 1 }],
    ];
    expect(separatedIn([...web, ...filler, ...other], nodes)).toEqual([
      ['zone-a', { web: 2, filler: 17, other: 1 }],
      ['zone-a', { filler: 19, web: 1 }],
      ['zone-a', { filler: 19, other: 1 }],
    ]);
  });

  it('change places with others where both nodes have room for that', () => {
    const bulky = appOf('bulky', { cpu: 200 });
    const nodes: readonly FinalNode[] = [
      ['zone-a', { web: 2, filler: 17 }],
      ['zone-a', { filler: 18, bulky: 1 }],
    ];
    expect(separatedIn([...web, ...filler, ...bulky], nodes)).toEqual([
      ['zone-a', { web: 1, filler: 17, bulky: 1 }],
      ['zone-a', { filler: 18, web: 1 }],
    ]);
  });

  it('stay as many together as maxSkew says', () => {
    const nodes: readonly FinalNode[] = [
      ['zone-a', { web: 5 }],
      ['zone-a', { filler: 3 }],
    ];
    expect(separatedIn([...spreadPods('web', 2), ...filler], nodes)).toEqual([
      ['zone-a', { web: 3 }],
      ['zone-a', { filler: 3, web: 2 }],
    ]);
  });

  const near = [{ weight: 10, term: termOver(HOSTNAME, ofApp('plain')) }];
  const hostPorts = [{ port: 80, protocol: 'TCP', ip: '' }];
  const least = [{ key: INSTANCE_TYPE, operator: 'Exists', values: [], minValues: 1 } as const];
  it.each<[string, readonly Pod[]]>([
    ['that ask for more', appOf('plain', { cpu: 101 })],
    ['with ports of their node', appOf('plain', { hostPorts })],
    ['that others want to be near', [...plain, ...appOf('near', { preferredPodAffinity: near })]],
  ])('do not change places with pods %s', (_, others) => {
    expect(separatedIn([...web, ...filler, ...others], full)).toEqual(full);
  });

  it.each<[string, FinalNode]>([
    ['of another zone', ['zone-b', { plain: 2 }]],
    ['that has one of theirs', ['zone-a', { plain: 2, web: 1 }]],
    ['that has no room', ['zone-a', { filler: 20 }]],
  ])('do not move to a node %s', (_, home) => {
    const nodes: readonly FinalNode[] = [['zone-a', { web: 2 }], home];
    expect(separatedIn([...web, ...filler, ...plain], nodes)).toEqual(nodes);
  });

  it('do not change places with more than the other node has room for', () => {
    const bulky = appOf('bulky', { cpu: 300 });
    const nodes: readonly FinalNode[] = [
      ['zone-a', { web: 2, filler: 17 }],
      ['zone-a', { filler: 17, bulky: 1 }],
    ];
    const larger = Array.from({ length: 20 }, (_, at) => typeOf(`l${at}.large`, 4, 16, 0.3));
    const types = [...TYPES, ...larger];
    expect(separatedIn([...web, ...filler, ...bulky], nodes, { types })).toEqual(nodes);
  });

  it('do not bring pods of another spread together', () => {
    const pods = [...spreadPods('web', 2), ...filler, ...spreadPods('other')];
    const nodes: readonly FinalNode[] = [
      ['zone-a', { web: 4, filler: 16 }],
      ['zone-a', { filler: 18, other: 2 }],
    ];
    expect(separatedIn(pods, nodes)).toEqual([
      ['zone-a', { web: 3, filler: 16, other: 1 }],
      ['zone-a', { filler: 18, other: 1, web: 1 }],
    ]);
  });

  describe('where NodePools differ', () => {
    const nodePools = ['a', 'b'].map((team) => poolOf(team, { labels: { team } }));
    const nodes: readonly FinalNode[] = [
      ['zone-a', { web: 2, filler: 18 }, 'a'],
      ['zone-a', { filler: 18, plain: 2 }, 'b'],
    ];
    const onTeam = { nodeSelector: { team: 'a' } };
    const term = {
      matchExpressions: [{ key: 'team', operator: 'In' as const, values: ['a'] }],
      matchFields: [],
    };
    const likesTeam = { preferredNodeAffinity: [{ weight: 1, term }] };

    it('are exchanged all the same', () => {
      const pods = [...web, ...filler, ...plain, ...appOf('bound', onTeam)];
      expect(separatedIn(pods, nodes, { nodePools })).not.toEqual(nodes);
    });

    it.each<[string, readonly Pod[]]>([
      ['must stay', [...spreadPods('web', 1, onTeam), ...filler, ...plain]],
      ['want to stay', [...spreadPods('web', 1, likesTeam), ...filler, ...plain]],
      ['meet others that want to stay', [...web, ...filler, ...appOf('plain', likesTeam)]],
    ])('are left where they %s', (_, pods) => {
      expect(separatedIn(pods, nodes, { nodePools })).toEqual(nodes);
    });

    it('are left where another spread counts only the nodes of one', () => {
      const racks = [poolOf('racked', { labels: { rack: 'r1' } }), poolOf('bare')];
      const all = ofApp('web');
      const overBoth = [spreadOver(ZONE, all), spreadOver('rack', all)];
      const pods = [...web, ...plain, ...appOf('racks', { topologySpread: overBoth })];
      const content: readonly FinalNode[] = [
        ['zone-a', { web: 2 }, 'racked'],
        ['zone-a', { plain: 1 }, 'bare'],
        ['zone-b', { web: 1, racks: 1 }, 'racked'],
      ];
      expect(separatedIn(pods, content, { nodePools: racks })).toEqual(content);
    });

    it('are not exchanged with pods that another spread counts on the nodes of one', () => {
      const racks = [poolOf('racked', { labels: { rack: 'r1' } }), poolOf('bare')];
      const overPlain = {
        nodeSelector: { rack: 'r1' },
        topologySpread: [spreadOver(ZONE, ofApp('plain'))],
      };
      const others = [...filler, ...plain, ...appOf('racks', overPlain)];
      const content: readonly FinalNode[] = [
        ['zone-a', { web: 2, filler: 18 }, 'bare'],
        ['zone-a', { filler: 18, plain: 2 }, 'racked'],
      ];
      expect(separatedIn([...web, ...others], content, { nodePools: racks })).toEqual(content);
    });
  });

  describe('leave a node as many types as it had, where those are few', () => {
    const small = Array.from({ length: 19 }, (_, at) => typeOf(`s${at}.large`, 2, 4, 0.2));
    const large = Array.from({ length: 20 }, (_, at) => typeOf(`l${at}.large`, 4, 16, 0.3));
    const types = [...TYPES, ...small];
    const thin = spreadPods('web', 1, { memory: GI });
    const fat = appOf('plain', { memory: 3.5 * GI });
    const nodes: readonly FinalNode[] = [
      ['zone-a', { web: 2 }],
      ['zone-a', { plain: 1 }],
    ];

    it('for the room that pods take', () => {
      expect(separatedIn([...thin, ...fat], nodes, { types })).toEqual(nodes);
      expect(separatedIn([...thin, ...fat], nodes, { types: TYPES })).not.toEqual(nodes);
    });

    it('within the limits of its NodePool', () => {
      const pods = [...thin, ...fat];
      const more = [...types, ...large];
      expect(separatedIn(pods, nodes, { types: more })).not.toEqual(nodes);
      const nodePools = [poolOf('general', { limits: { cpu: 100_000 } })];
      expect(separatedIn(pods, nodes, { types: more, nodePools })).toEqual(nodes);
    });

    it('for the rules of other pods', () => {
      const archs = Array.from({ length: 20 }, (_, at) =>
        typeOf(`m${at}.large`, 2, 8, 0.1, at < 14 ? {} : { labels: { [ARCH]: ['arm64'] } }),
      );
      const onAmd = appOf('plain', { nodeSelector: { [ARCH]: 'amd64' } });
      const pods = [...web, ...filler, ...onAmd];
      expect(separatedIn(pods, full, { types: archs })).toEqual(full);
      expect(separatedIn(pods, full, { types: archs.slice(0, 14) })).not.toEqual(full);
    });
  });

  it('are left where a NodePool has minValues', () => {
    const nodePools = [poolOf('general', { requirements: least })];
    expect(separatedIn([...web, ...filler, ...plain], full, { nodePools })).toEqual(full);
  });

  it('stay where a spread counts them that looks at other nodes', () => {
    const counts = appOf('other', {
      nodeSelector: { [ZONE]: 'zone-a' },
      topologySpread: [spreadOver(ZONE, ofApp('web'))],
    });
    expect(separatedIn([...web, ...filler, ...counts, ...plain], full)).toEqual(full);
  });
});
