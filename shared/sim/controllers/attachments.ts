import { type Json, listAt, textAt } from '../json.ts';
import { isOver } from '../objects.ts';
import type { KubeObject, ObjectStore } from '../store.ts';
import type { Timeline } from '../timeline.ts';

/** Its volumes are attached to nodes. */
const DRIVER = 'ebs.csi.aws.com';

/** Names of the volumes that nodes have to be given for the pod. */
function volumesOf(store: ObjectStore, pod: KubeObject): readonly string[] {
  return listAt(pod, 'spec', 'volumes').flatMap((volume) => {
    const claimName = textAt(volume, 'persistentVolumeClaim', 'claimName');
    if (claimName === undefined) return [];
    const claim = store.get('PersistentVolumeClaim', pod.metadata.namespace, claimName);
    const name = textAt(claim, 'spec', 'volumeName');
    const found = name === undefined ? undefined : store.get('PersistentVolume', undefined, name);
    return found !== undefined && textAt(found, 'spec', 'csi', 'driver') === DRIVER
      ? [found.metadata.name]
      : [];
  });
}

function nodeOf(attachment: KubeObject): string | undefined {
  return textAt(attachment, 'spec', 'nodeName');
}

function volumeOf(attachment: KubeObject): string {
  return textAt(attachment, 'spec', 'source', 'persistentVolumeName') ?? '';
}

function attachmentOf(volume: string, nodeName: string): Json {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: `csi-${volume}-${nodeName}` },
    spec: { attacher: DRIVER, nodeName, source: { persistentVolumeName: volume } },
    status: { attached: true },
  };
}

/** Whether one node at a time may have the volume, as its claim says. */
function isOfOneNode(store: ObjectStore, volume: string): boolean {
  const found = store.get('PersistentVolume', undefined, volume);
  const [namespace, name] = ['namespace', 'name'].map((each) =>
    textAt(found, 'spec', 'claimRef', each),
  );
  const claim = store.get('PersistentVolumeClaim', namespace, name ?? '');
  return listAt(claim, 'spec', 'accessModes').includes('ReadWriteOnce');
}

/** Whether the pod's node has all volumes of the pod: its containers wait for them. */
export function hasVolumes(store: ObjectStore, pod: KubeObject): boolean {
  const nodeName = textAt(pod, 'spec', 'nodeName');
  const attachments = store.list('VolumeAttachment');
  return volumesOf(store, pod).every((volume) =>
    attachments.some((each) => volumeOf(each) === volume && nodeOf(each) === nodeName),
  );
}

/**
 * The attach and detach controller with EBS's driver: a volume is attached where its pod is, once
 * no other node has it, and detached some time after the pod has gone.
 * https://kubernetes.io/docs/concepts/storage/persistent-volumes/
 */
export class Attachments {
  private readonly store: ObjectStore;
  private readonly timeline: Timeline;
  private readonly detachMs: () => number;
  private readonly leaving = new Set<string>();

  constructor(store: ObjectStore, timeline: Timeline, detachMs: () => number) {
    this.store = store;
    this.timeline = timeline;
    this.detachMs = detachMs;
  }

  reconcile(): void {
    const { store } = this;
    if (store.list('PersistentVolume').length === 0) return;
    const wanted = this.wanted();
    for (const each of store.list('VolumeAttachment')) {
      const isWanted = wanted.get(volumeOf(each))?.has(nodeOf(each) ?? '') === true;
      if (!isWanted && !this.leaving.has(each.metadata.uid)) this.detach(each);
    }
    const attached = new Set(store.list('VolumeAttachment').map(volumeOf));
    for (const [volume, nodes] of wanted) {
      for (const node of nodes) {
        if (attached.has(volume) && isOfOneNode(store, volume)) break;
        // It is there already where the node has it.
        store.create(attachmentOf(volume, node));
        attached.add(volume);
      }
    }
  }

  /** By volume the nodes that have pods with it. */
  private wanted(): ReadonlyMap<string, ReadonlySet<string>> {
    const wanted = new Map<string, Set<string>>();
    for (const pod of this.store.list('Pod')) {
      const nodeName = textAt(pod, 'spec', 'nodeName');
      if (nodeName === undefined || isOver(pod)) continue;
      for (const volume of volumesOf(this.store, pod)) {
        wanted.set(volume, (wanted.get(volume) ?? new Set()).add(nodeName));
      }
    }
    return wanted;
  }

  private detach(attachment: KubeObject): void {
    const { uid } = attachment.metadata;
    this.leaving.add(uid);
    this.timeline.after(this.detachMs(), () => {
      this.leaving.delete(uid);
      const nodes = this.wanted().get(volumeOf(attachment));
      if (nodes?.has(nodeOf(attachment) ?? '') !== true) this.store.delete(attachment);
    });
  }
}
