import { createElement as h, type ReactNode, useMemo } from 'react';
import type { Pod } from '../../../shared/core/model/pod.ts';
import type { Headlamp, Shown } from '../headlamp.ts';
import { decoded } from '../model/cluster.ts';
import { joinerEvents, type Why } from '../model/events.ts';
import { podView } from '../model/pod-view.ts';
import type { Fact } from '../model/target.ts';
import { commandList, eventTable, factsTable, problemList } from './tables.ts';

function meaningOf({ meaning, remedy }: Why): readonly Fact[] {
  if (meaning === '') return [];
  return [
    { name: 'Meaning', value: meaning },
    { name: 'What to do', value: remedy },
  ];
}

function waiting(headlamp: Headlamp) {
  return function WaitingPod({ cluster, pod }: { readonly cluster: string; readonly pod: Pod }) {
    const { parts } = headlamp;
    const { namespace, name } = pod;
    const fieldSelector = `involvedObject.name=${name}`;
    const list = headlamp.useList('Event', { cluster, namespace, fieldSelector });
    const events = useMemo(() => joinerEvents(list.objects ?? []), [list.objects]);
    const isRead = list.objects !== undefined && list.problem === undefined;
    const view = podView(pod, events, isRead);
    if (view === undefined || (list.objects === undefined && list.problem === undefined))
      return null;
    const problems = list.problem === undefined ? [] : [`Events cannot be read: ${list.problem}`];
    const obstacles = view.obstacles.map((each) => h('li', { key: each }, each));
    return h(
      parts.Section,
      { title: 'Joiner: why the pod is pending' },
      problemList(parts, problems),
      h('p', null, h(parts.Status, { look: view.look }, view.summary)),
      obstacles.length === 0 ? null : h('ul', null, ...obstacles),
      view.why === undefined ? null : factsTable(parts, meaningOf(view.why)),
      eventTable(parts, view.events, isRead, headlamp.nowMs()),
      commandList(view.commands),
    );
  };
}

/** The section on the page of a pod without a node; nothing on that of another. */
export function podSection(headlamp: Headlamp) {
  const WaitingPod = waiting(headlamp);
  return function PodSection({ cluster, object }: Shown): ReactNode {
    const [pod] = decoded('Pod', [object]);
    const isWaiting = pod !== undefined && podView(pod, [], false) !== undefined;
    return isWaiting ? h(WaitingPod, { cluster, pod }) : null;
  };
}
