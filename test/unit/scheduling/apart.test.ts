import { describe, expect, it } from 'vitest';
import { HOSTNAME, ZONE } from '../../../shared/core/model/labels.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../shared/core/model/snapshot.ts';
import { setApart } from '../../../shared/core/scheduling/placing/apart.ts';
import { compileProblem } from '../../../shared/core/scheduling/problem/compile.ts';
import { type ClassView, Ground, World } from '../../../shared/core/scheduling/world/world.ts';
import { ofApp, spreadOver, termOver } from '../../builders/affinity.ts';
import { GI, podsOf, snapshotOf } from '../../builders/scheduling.ts';

/** A node of a plan: its zone, and how many pods of each app are on it. */
type Home = readonly [zone: string, content: Readonly<Record<string, number>>];

type Spec = Parameters<typeof podsOf>[2];

/** As many pods of an app as a test may want. */
function appOf(app: string, spec: Spec = {}): readonly Pod[] {
  return podsOf(6, app, { cpu: 100, memory: GI / 8, ...spec }, { labels: { app } });
}

const spreadPods = (app: string, maxSkew = 1, spec: Spec = {}): readonly Pod[] =>
  appOf(app, { topologySpread: [spreadOver(ZONE, ofApp(app), { maxSkew })], ...spec });

/** What the plan says after pods have been set apart. */
function setApartIn(pods: readonly Pod[], homes: readonly Home[]): readonly Home[] {
  const problem = compileProblem(snapshotOf({ pods }), DEFAULT_SCHEDULING_SETTINGS);
  const world = new World(new Ground(problem, { kinds: new Set() }));
  const appOfClass = ({ podClass }: ClassView) => podClass.pods[0]?.labels['app'] ?? '';
  const views = new Map(world.ground.views.map((view) => [appOfClass(view), view]));
  for (const [zone, content] of homes) {
    const columns = problem.groups
      .filter(({ domain }) => domain.zone === zone)
      .flatMap(({ front }) => front);
    const bin = world.open({ penalty: 0, columns });
    for (const [app, amount] of Object.entries(content)) {
      world.fill(views.get(app) as ClassView, bin, amount);
    }
  }
  const usedBefore = world.bins.map(({ used }) => [...used]);
  setApart(world);
  expect(world.bins.map(({ used }) => [...used])).toEqual(usedBefore);
  return world.bins.map(({ held, content }): Home => {
    const sorted = [...content].map(([podClass, amount]) => [
      podClass.pods[0]?.labels['app'] ?? '',
      amount,
    ]);
    return [held.group.domain.zone, Object.fromEntries(sorted)];
  });
}

describe('pods of one spread on one node', () => {
  const web = spreadPods('web');
  const other = spreadPods('other');
  const plain = appOf('plain');

  it('change places with equal pods of another node of the zone', () => {
    const homes: readonly Home[] = [
      ['zone-a', { web: 2 }],
      ['zone-b', { plain: 1, other: 1 }],
      ['zone-a', { plain: 2, other: 1 }],
    ];
    expect(setApartIn([...web, ...other, ...plain], homes)).toEqual([
      ['zone-a', { web: 1, plain: 1 }],
      ['zone-b', { plain: 1, other: 1 }],
      ['zone-a', { web: 1, plain: 1, other: 1 }],
    ]);
  });

  it('stay as many together as maxSkew says', () => {
    const homes: readonly Home[] = [
      ['zone-a', { web: 4 }],
      ['zone-a', { plain: 3, other: 1 }],
    ];
    expect(setApartIn([...spreadPods('web', 2), ...other, ...plain], homes)).toEqual([
      ['zone-a', { web: 2, plain: 2 }],
      ['zone-a', { plain: 1, other: 1, web: 2 }],
    ]);
  });

  const both: readonly Home[] = [
    ['zone-a', { web: 2 }],
    ['zone-a', { plain: 2, other: 1 }],
  ];
  const apart = [termOver(HOSTNAME, ofApp('plain'))];
  const near = [{ weight: 10, term: termOver(HOSTNAME, ofApp('plain')) }];
  it.each([
    ['that ask for more', [...web, ...other, ...appOf('plain', { cpu: 2000 })]],
    [
      'that other nodes suit',
      [...web, ...other, ...appOf('plain', { nodeSelector: { [ZONE]: 'zone-a' } })],
    ],
    ['that may not be together', [...web, ...other, ...appOf('plain', { podAntiAffinity: apart })]],
    [
      'that others want to be near',
      [...web, ...spreadPods('other', 1, { preferredPodAffinity: near }), ...plain],
    ],
    [
      'with ports of their node',
      [...web, ...other, ...appOf('plain', { hostPorts: [{ port: 80, protocol: 'TCP', ip: '' }] })],
    ],
  ])('do not change places with pods %s', (_, pods) => {
    expect(setApartIn(pods, both)).toEqual(both);
  });

  it.each<[string, readonly Home[]]>([
    [
      'of another zone',
      [
        ['zone-a', { web: 2 }],
        ['zone-b', { plain: 2, other: 1 }],
      ],
    ],
    [
      'that may still be in any zone',
      [
        ['zone-a', { web: 2 }],
        ['zone-a', { plain: 2 }],
      ],
    ],
    [
      'that has one of theirs',
      [
        ['zone-a', { web: 2 }],
        ['zone-a', { plain: 2, web: 1 }],
      ],
    ],
  ])('do not go to a node %s', (_, homes) => {
    expect(setApartIn([...web, ...other, ...plain], homes)).toEqual(homes);
  });

  it('stay where a spread counts them that looks at other nodes', () => {
    const counts = appOf('other', {
      nodeSelector: { [ZONE]: 'zone-a' },
      topologySpread: [spreadOver(ZONE, ofApp('web'))],
    });
    expect(setApartIn([...web, ...counts, ...plain], both)).toEqual(both);
  });
});
