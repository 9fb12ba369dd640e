import { FAKE_POD, type Labels } from '../../core/model/labels.ts';
import type { Pod, PodPhase } from '../../core/model/pod.ts';
import type { Decoded } from '../issue.ts';
import { Reader, type TooLarge } from '../read.ts';
import { readConditions, readMetadata } from './metadata.ts';
import { PodSpecReader } from './pod-spec.ts';

const PHASES: readonly PodPhase[] = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

/** The annotation by which the kubelet marks the API's copy of a static pod. */
const MIRROR = 'kubernetes.io/config.mirror';

/**
 * Plans alone make pods that stand for room. One of the cluster is none, whatever it says: what is
 * launched for it would be counted for nobody.
 */
function withoutFakePod(annotations: Labels): Labels {
  if (annotations[FAKE_POD] === undefined) return annotations;
  const { [FAKE_POD]: _, ...rest } = annotations;
  return rest;
}

/** Decodes pods; pods whose specs read the same share one spec object. Lenient about other fields. */
export class PodDecoder {
  private readonly specs: PodSpecReader;

  constructor(tooLarge: TooLarge = 'refuse') {
    this.specs = new PodSpecReader(tooLarge);
  }

  decode(object: unknown): Decoded<Pod> {
    const read = new Reader();
    const fields = read.fields(object, '');
    const {
      name,
      namespace,
      uid,
      labels,
      annotations,
      createdAtMs,
      deletedAtMs,
      deletionGraceSeconds,
      owners,
      controller,
    } = readMetadata(read, fields);
    const spec = read.fields(fields['spec'], 'spec');
    const { spec: podSpec, issues } = this.specs.read(fields['spec'], 'spec');
    read.issues.push(...issues);
    const status = read.fields(fields['status'], 'status');
    const nodeName = read.text(spec['nodeName'], 'spec.nodeName') || undefined;
    const phase = read.oneOf(status['phase'], 'status.phase', PHASES);
    const conditions = readConditions(read, status['conditions'], 'status.conditions');
    const scheduled = conditions.find((each) => each.type === 'PodScheduled');
    const nominated = read.text(status['nominatedNodeName'], 'status.nominatedNodeName');
    return read.result({
      namespace,
      name,
      uid: uid === '' ? `${namespace}/${name}` : uid,
      labels,
      annotations: withoutFakePod(annotations),
      createdAtMs,
      startedAtMs: read.time(status['startTime'], 'status.startTime'),
      deletedAtMs,
      ...(deletionGraceSeconds === undefined ? {} : { deletionGraceSeconds }),
      spec: podSpec,
      nodeName,
      nominatedNodeName: nominated || undefined,
      phase: phase ?? (nodeName === undefined ? 'Pending' : 'Running'),
      unschedulable: scheduled?.status === 'False' && scheduled.reason === 'Unschedulable',
      ready: conditions.some((each) => each.type === 'Ready' && each.status === 'True'),
      isMirror: annotations[MIRROR] !== undefined,
      controller:
        controller ?? owners.find((each) => each.kind === 'DaemonSet' || each.kind === 'Node'),
    });
  }
}
