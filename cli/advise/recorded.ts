import { statSync } from 'node:fs';
import { consolidationOf, planningOf } from '../../shared/app/recording/replayed.ts';
import { DEFAULT_CONSOLIDATION_SETTINGS } from '../../shared/core/disruption/consolidation/payback.ts';
import type { Usage } from '../../shared/kube/pod-metrics.ts';
import { BadInput, unreadable } from '../bad-input.ts';
import {
  lastRecordingIn,
  madeOf,
  type NamedRecording,
  parsedRecording,
  recordingText,
} from '../ledger/files.ts';
import type { Advised } from './advice.ts';

function isFolder(path: string): boolean {
  try {
    return path !== '-' && statSync(path).isDirectory();
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** The recording at the path; of a folder the last one. */
export function recordingAt(path: string): NamedRecording {
  if (isFolder(path)) return lastRecordingIn(path);
  const notes: string[] = [];
  const found = parsedRecording(path, () => recordingText(path), notes);
  if (found === undefined) throw new BadInput(notes);
  return found;
}

/** The cluster of a recording, by the settings that are recorded with it. */
export function recordedSubject(named: NamedRecording, usage: Usage | undefined): Advised {
  const { recording } = named;
  const common = { nowMs: Date.parse(recording.at), usage };
  return madeOf(named, (): Advised => {
    if (recording.useCase === 'disrupt') {
      const { snapshot, scheduling, settings } = consolidationOf(recording);
      return { ...common, snapshot, scheduling, consolidation: settings, notes: [] };
    }
    const { snapshot, settings } = planningOf(recording);
    const notes = ['recordings of provision have no settings of consolidation: defaults hold'];
    const consolidation = DEFAULT_CONSOLIDATION_SETTINGS;
    return { ...common, snapshot, scheduling: settings, consolidation, notes };
  });
}
