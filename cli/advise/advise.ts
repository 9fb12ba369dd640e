import { restOf } from '../../shared/core/comparison/cluster-at-rest.ts';
import { type Row, rowOf } from '../compare/comparison.ts';
import type { Progress } from '../progress.ts';
import { counted } from '../words.ts';
import { type Advice, type Advised, ranked, type Side, sideOf, sideOfRow } from './advice.ts';
import { architectureAdvice } from './architecture.ts';
import { blockerAdvice } from './blockers.ts';
import { exclusionAdvice } from './exclusions.ts';
import { limitAdvice } from './limits.ts';
import { Replanned, withoutShortages } from './replanned.ts';
import { requestAdvice } from './requests.ts';

export interface AdviceFound {
  /** What runs. */
  readonly now: Side;
  /** The same pods, planned on none of Joiner's nodes. */
  readonly anew: Side;
  /** Savings first, the largest amounts first; then what gives nodes to pods that wait. */
  readonly advice: readonly Advice[];
  readonly notes: readonly string[];
}

function shortageNote(lifted: number): readonly string[] {
  if (lifted === 0) return [];
  return [
    `${counted(lifted, 'offering')} that a shortage bars now ${lifted === 1 ? 'is' : 'are'} planned as available`,
  ];
}

function leftNote(left: number, what: string): readonly string[] {
  return left === 0 ? [] : [`${what}: ${left} further are not evaluated, the smallest ones`];
}

/** All that a cluster could save by changes that a person can make. */
export function adviceFor(given: Advised, progress: Progress): AdviceFound {
  const { snapshot, lifted } = withoutShortages(given.snapshot);
  const subject = { ...given, snapshot };
  const { scheduling, usage } = subject;
  const say = (what: string): void => progress.begin(what);
  say('all pods planned anew');
  const replanned = new Replanned(snapshot, scheduling);
  const excluded = exclusionAdvice(replanned, say);
  const architecture = architectureAdvice(replanned, say);
  const limits = limitAdvice(subject, replanned, say);
  const requests =
    usage === undefined
      ? { advice: [], left: 0 }
      : requestAdvice(snapshot.pods, replanned, usage, say);
  const blockers = blockerAdvice(subject, say);
  const now: Row = rowOf(restOf(snapshot));
  return {
    now: sideOfRow(now),
    anew: sideOf(replanned.plan),
    advice: ranked([
      ...excluded,
      ...architecture.advice,
      ...limits,
      ...requests.advice,
      ...blockers.advice,
    ]),
    notes: [
      ...subject.notes,
      ...shortageNote(lifted),
      ...leftNote(architecture.left, 'workloads that are kept from arm64 nodes'),
      ...leftNote(requests.left, 'workloads with requests far beyond usage'),
      ...leftNote(blockers.left, 'objects that block consolidation'),
    ],
  };
}
