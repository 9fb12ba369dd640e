import type {
  DecisionModel,
  History,
  NodeModel,
  PageModel,
  PodCount,
  Scene,
  Steps,
} from './model.ts';

/** What a simulation is at one moment. */
export interface Moment {
  readonly scene: Scene;
  readonly pricePerHour: number;
  readonly pending: number;
}

export function isAlive({ life }: NodeModel, at: number): boolean {
  return life === null || (life.launched <= at && (life.gone === null || life.gone > at));
}

function stateAt({ life, state }: NodeModel, at: number): NodeModel['state'] {
  if (life === null) return state;
  if (life.draining !== null && life.draining <= at) return 'leaves';
  return life.ready === null || life.ready > at ? 'starting' : 'runs';
}

/** Nodes alive, and their pods, after so many seconds. */
export function momentAt(scene: Scene, { frames }: History, at: number): Moment {
  const pods = new Map<number, readonly PodCount[]>();
  let [pricePerHour, pending] = [0, 0];
  for (const frame of frames) {
    if (frame.at > at) break;
    for (const [node, counts] of frame.pods) pods.set(node, counts);
    ({ pricePerHour, pending } = frame);
  }
  const nodes = scene.nodes.flatMap((node, index) =>
    isAlive(node, at) ? [{ ...node, state: stateAt(node, at), pods: pods.get(index) ?? [] }] : [],
  );
  return { scene: { ...scene, nodes }, pricePerHour, pending };
}

/** What is seen of a frame beside the nodes. */
function sumOf({ pricePerHour, pending }: Pick<Moment, 'pricePerHour' | 'pending'>): string {
  return JSON.stringify([pricePerHour, pending]);
}

/**
 * The whole seconds at which the picture or the curves change, or something was decided or
 * happened: frames also tell of what is not seen.
 */
export function changeTimes(
  { nodes }: Pick<Scene, 'nodes'>,
  { frames }: Pick<History, 'frames'>,
  said: readonly Pick<DecisionModel, 'at'>[],
): readonly number[] {
  const lives = nodes.flatMap(({ life }) =>
    life === null ? [] : [life.launched, life.ready, life.draining, life.gone],
  );
  const pods = new Map<number, string>();
  let sums = sumOf({ pricePerHour: 0, pending: 0 });
  const changed = frames.flatMap((frame) => {
    const own = frame.pods.filter(([node, counts]) => pods.get(node) !== JSON.stringify(counts));
    for (const [node, counts] of own) pods.set(node, JSON.stringify(counts));
    const isSame = own.length === 0 && sumOf(frame) === sums;
    sums = sumOf(frame);
    return isSame ? [] : [frame.at];
  });
  const times = [0, ...changed, ...lives, ...said.map(({ at }) => at)];
  const whole = times.flatMap((at) => (at === null || at === undefined ? [] : [Math.floor(at)]));
  return [...new Set(whole)].sort((a, b) => a - b);
}

/** What a page shows first: of a simulation, its end. */
export function shownFirst({ scenes, history }: PageModel): Scene | undefined {
  const [scene] = scenes;
  if (scene === undefined || history === null) return scene;
  return momentAt(scene, history, history.seconds).scene;
}

export function nodeSteps({ nodes }: Scene): Steps {
  const changes = nodes.flatMap(({ life }) =>
    life === null
      ? []
      : [[life.launched, 1] as const, ...(life.gone === null ? [] : [[life.gone, -1] as const])],
  );
  let now = 0;
  const steps = new Map<number, number>([[0, 0]]);
  for (const [at, by] of changes.sort(([a], [b]) => a - b)) {
    now += by;
    steps.set(at, now);
  }
  return [...steps];
}
