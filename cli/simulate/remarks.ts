import { meant } from '../../shared/contract/nearest.ts';
import { SIMULATED_DURATION } from '../../shared/core/model/labels.ts';
import { JOB_DURATION } from '../../shared/sim/durations.ts';
import { type Json, listAt, textAt, valueAt } from '../../shared/sim/json.ts';
import { asWorkload } from '../../shared/sim/pod-templates.ts';
import { startMsOf } from '../../shared/sim/running.ts';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { oldNames } from '../convert/old-names.ts';
import { type Manifest, nameOf } from '../manifests.ts';
import { someOf } from '../words.ts';
import { misspeltNames } from './misspelt-names.ts';

/** Names told in one note. */
const NAMES_MAX = 5;

function named(manifests: readonly Manifest[]): string {
  return someOf(
    manifests.map(({ object }) => nameOf(object)),
    NAMES_MAX,
  );
}

const TEMPLATES: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['Job', ['spec', 'template']],
  ['CronJob', ['spec', 'jobTemplate', 'spec', 'template']],
]);

/** Whether it makes Jobs that do not say how long they run. */
function endsByDefault({ object }: Manifest): boolean {
  const template = TEMPLATES.get(object['kind']);
  if (template === undefined) return false;
  return valueAt(object, ...template, 'metadata', 'annotations', SIMULATED_DURATION) === undefined;
}

/** How the simulated cluster runs what Kubernetes' own controllers of apps/v1 do not. */
function runNotes(used: readonly Manifest[]): readonly string[] {
  const templated = used.filter(({ object }) => asWorkload(object) !== object);
  const ending = used.filter(endsByDefault);
  const cronJobs = used.filter(({ object }) => object['kind'] === 'CronJob');
  const startMs = startMsOf(used.map(({ object }) => object));
  const start = new Date(startMs).toISOString().replace('.000', '');
  return [
    ...(templated.length === 0
      ? []
      : [`run by their pod template, with all replicas at once: ${named(templated)}`]),
    ...(ending.length === 0
      ? []
      : [
          `pods of Jobs end after ${JOB_DURATION} where their annotation ${SIMULATED_DURATION} says nothing: ${named(ending)}`,
        ]),
    ...(cronJobs.length === 0
      ? []
      : [`start Jobs at their schedule, the first after ${start}: ${named(cronJobs)}`]),
  ];
}

/** What counts of workloads where no time passes. */
function countNotes(used: readonly Manifest[]): readonly string[] {
  const of = (kind: string) => used.filter(({ object }) => object['kind'] === kind);
  const [jobs, cronJobs] = [of('Job'), of('CronJob')];
  return [
    ...(jobs.length === 0
      ? []
      : [`pods of Jobs count as if they ran all the time: ${named(jobs)}`]),
    ...(cronJobs.length === 0 ? [] : [`pods of CronJobs are not counted: ${named(cronJobs)}`]),
  ];
}

/** Volumes that the simulated world does not have. */
function absenceNotes(used: readonly Manifest[]): readonly string[] {
  const volumes = new Set(
    used
      .filter(({ object }) => object['kind'] === 'PersistentVolume')
      .map(({ object }) => textAt(object, 'metadata', 'name') ?? ''),
  );
  return used.flatMap(({ object, place }) => {
    const volume = textAt(object, 'spec', 'volumeName') ?? '';
    if (object['kind'] === 'PersistentVolumeClaim' && volume !== '' && !volumes.has(volume)) {
      const field = 'spec.volumeName';
      const near = meant(volume, volumes);
      return [`${place(field)}: ${field}: there is no PersistentVolume ${volume}${near}`];
    }
    return [];
  });
}

/** EC2NodeClasses that select capacity reservations, where there are none. */
export function reservationNotes(
  manifests: readonly Json[],
  scenario: Scenario | undefined,
): readonly string[] {
  if (scenario?.steps.some(({ reserve }) => reserve !== undefined)) return [];
  const field = 'spec.capacityReservationSelectorTerms';
  const why = 'the account has none until a scenario of joiner simulate reserves some';
  return manifests
    .filter(({ kind }) => kind === 'EC2NodeClass')
    .filter((object) => listAt(object, ...field.split('.')).length > 0)
    .map((object) => `${nameOf(object)}: ${field} match nothing: ${why}`);
}

/** NodePools that AWS runs itself. */
function autoModeNotes(used: readonly Manifest[]): readonly string[] {
  const field = 'spec.template.spec.nodeClassRef';
  return used.flatMap(({ object, place }) => {
    const group = textAt(object, ...field.split('.'), 'group');
    if (object['kind'] !== 'NodePool' || group !== 'eks.amazonaws.com') return [];
    const what = 'its class is a NodeClass of EKS Auto Mode, whose nodes AWS runs';
    return [`${place(field)}: ${what}: nothing is planned with it. Name an EC2NodeClass instead`];
  });
}

/** Names of earlier versions, which no node has: pods that select them wait for ever. */
function oldNameNotes(used: readonly Manifest[]): readonly string[] {
  return used.flatMap(({ object, place }) =>
    oldNames(object).map(({ field, message }) => `${place(field)}: ${field}: ${message}`),
  );
}

/**
 * What becomes of the manifests: a simulated cluster runs them, they are planned there at one
 * moment, or they are put beside what a cluster has.
 */
export type Place = 'simulated' | 'planned' | 'live';

/** What people should know of the objects before they read the result. */
export function remarksOn(used: readonly Manifest[], place: Place): readonly string[] {
  const own = { simulated: runNotes, planned: countNotes, live: () => [] }[place](used);
  const absent = place === 'live' ? [] : absenceNotes(used);
  return [
    ...own,
    ...absent,
    ...autoModeNotes(used),
    ...oldNameNotes(used),
    ...misspeltNames(used, place !== 'live'),
  ];
}
