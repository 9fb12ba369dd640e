import { type Command, InvalidArgumentError } from 'commander';
import { RESOURCES } from '../shared/api/resources.ts';
import { decodeSettings } from '../shared/api/stack-settings.ts';
import { type StackSettings, stackSettings } from '../shared/app/settings.ts';
import { SETTINGS } from '../shared/contract/settings.ts';
import { ENV, REGION_VARIABLE, SETTINGS_CONFIG_MAP } from '../shared/contract.ts';
import type { KubeClient } from '../shared/kube/client.ts';
import { findNamed } from '../shared/kube/find.ts';
import { property } from '../shared/kube/list.ts';
import { type Effort, effortOption } from './effort.ts';
import { gatesFault } from './feature-gates.ts';
import { issueText } from './unknown-names.ts';

/** What a command decides by where the stack is not asked, or does not answer. */
export interface SettingsOptions {
  /** `Name=true,Name=false`: instead of what the stack says of these. */
  readonly featureGates?: string;
  /** Instead of what the stack says. */
  readonly effort?: Effort;
}

/** Where a stack is, as far as it has stated that in the cluster. */
export interface StackPlace {
  readonly region?: string;
  readonly bucket?: string;
  /** The cluster's name in EKS. */
  readonly cluster?: string;
}

/** What decisions go by, and what people should know of it. */
export interface FoundSettings {
  readonly stack: StackSettings;
  readonly notes: readonly string[];
}

const OBJECT = `ConfigMap ${SETTINGS_CONFIG_MAP.namespace}/${SETTINGS_CONFIG_MAP.name}`;

function gates(text: string): string {
  const fault = gatesFault(text);
  if (fault !== undefined) throw new InvalidArgumentError(fault);
  return text;
}

/** The command with options for {@link SettingsOptions}. */
export function withSettingsOptions(command: Command): Command {
  return command
    .option(
      '--feature-gates <gates>',
      "override feature gates of the stack's settings: Name=true,Name=false",
      gates,
    )
    .addOption(effortOption());
}

/**
 * Settings as they are stated, with what is given after them: of gates the later ones hold, and an
 * effort.
 */
function decoded(stated: unknown, { featureGates = '', effort }: SettingsOptions) {
  const { variable } = SETTINGS.featureGates;
  const before = property(stated, variable);
  const named = [typeof before === 'string' ? before : '', featureGates].filter(Boolean).join(',');
  const given = effort === undefined ? {} : { [SETTINGS.effort.variable]: effort };
  return decodeSettings({ ...Object(stated), ...given, [variable]: named });
}

function assumed(why: string, options: SettingsOptions): FoundSettings {
  const found = decoded({}, options);
  if (!found.ok) throw new Error('the defaults of the settings are not valid');
  const help = options.featureGates === undefined ? '; --feature-gates says which are on' : '';
  const note = `the stack's settings are not known, defaults are assumed: ${why}${help}`;
  return { stack: stackSettings(found.value), notes: [note] };
}

/** What a stack has stated in the cluster; `fault` says why it could not be read. */
export interface Stated {
  /** Undefined: nothing is stated. */
  readonly data: unknown;
  readonly fault: string | undefined;
}

/** Reads what the stack has stated in the cluster. */
export async function readStated(client: KubeClient): Promise<Stated> {
  const answer = await findNamed(client, RESOURCES.configMaps, SETTINGS_CONFIG_MAP);
  if (answer.kind === 'refused') return { data: undefined, fault: answer.message };
  if (answer.object === undefined) return { data: undefined, fault: `there is no ${OBJECT}` };
  return { data: property(answer.object, 'data'), fault: undefined };
}

/** Where the stack is. Older stacks state none of it. */
export function placeOf({ data }: Stated): StackPlace {
  const stated = (name: string): string | undefined => {
    const value = property(data, name);
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const [region, bucket, cluster] = [REGION_VARIABLE, ENV.bucket, ENV.cluster].map(stated);
  return {
    ...(region === undefined ? {} : { region }),
    ...(bucket === undefined ? {} : { bucket }),
    ...(cluster === undefined ? {} : { cluster }),
  };
}

/**
 * The settings that the stack has stated in the cluster. Where they cannot be had, the defaults,
 * and a note that says so: what the stack decides may be something else.
 */
export function settingsOf({ data, fault }: Stated, options: SettingsOptions): FoundSettings {
  if (fault !== undefined) return assumed(fault, options);
  const found = decoded(data, options);
  if (found.ok) return { stack: stackSettings(found.value), notes: [] };
  const said = found.issues.map(issueText).join('; ');
  return assumed(`${OBJECT} cannot be read: ${said}`, options);
}
