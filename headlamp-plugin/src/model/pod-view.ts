import { type Pod, podKey } from '../../../shared/core/model/pod.ts';
import { eventsOf, type JoinerEvent, type Why } from './events.ts';

/** What the panel of a pod without a node shows. */
export interface PodView {
  /** One sentence. */
  readonly summary: string;
  readonly look: 'success' | 'warning';
  /** Why no node is planned for it: one line for each NodePool, and one for nodes that are there. */
  readonly obstacles: readonly string[];
  /** What the reason means and what to do; undefined: Joiner has given none. */
  readonly why: Why | undefined;
  readonly events: readonly JoinerEvent[];
  /** Commands whose answers have more. */
  readonly commands: readonly string[];
}

const PREFIX = 'Failed to schedule pod, ';

function summaryOf(pod: Pod, newest: JoinerEvent | undefined, isRead: boolean): string {
  if (newest?.reason === 'Nominated') return newest.why.text;
  if (newest !== undefined) return 'No node is planned for the pod';
  if (pod.unschedulable) {
    return isRead
      ? 'Joiner has written no Event about the pod in the last hour'
      : 'Why the pod is pending is not known: Events were not read';
  }
  return 'kube-scheduler has not marked the pod unschedulable: Joiner waits for it';
}

/**
 * What the panel shows of a pod; undefined: it has a node, or has ended. Not `isRead`: there may be
 * other events.
 */
export function podView(
  pod: Pod,
  all: readonly JoinerEvent[],
  isRead: boolean,
): PodView | undefined {
  if (pod.nodeName !== undefined || pod.phase !== 'Pending') return undefined;
  const events = eventsOf(all, 'Pod', pod.name).filter(
    ({ namespace }) => namespace === pod.namespace,
  );
  const [newest] = events;
  const isUnplaced = newest !== undefined && newest.reason !== 'Nominated';
  const text = newest?.why.text.replace(PREFIX, '') ?? '';
  return {
    summary: summaryOf(pod, newest, isRead),
    look: newest?.reason === 'Nominated' ? 'success' : 'warning',
    obstacles: isUnplaced ? text.split('; ') : [],
    why: isUnplaced ? newest.why : undefined,
    events,
    commands: [
      `joiner explain pod/${podKey(pod)}`,
      `joiner decisions --cluster CLUSTER --pod ${podKey(pod)}`,
    ],
  };
}
