import type { Duration } from 'aws-cdk-lib';
import {
  type SettingKey,
  type SettingKeyOf,
  type Settings,
  settingOf,
} from '../../shared/contract/settings.ts';
import type { JoinerProps } from './joiner-props.ts';

/** The props that the table's settings have to have. */
type SettingProps = {
  readonly [Key in SettingKey]?: Key extends SettingKeyOf<'duration'>
    ? Duration
    : Key extends SettingKeyOf<'gates'>
      ? Readonly<Partial<Settings[Key]>>
      : Settings[Key];
};

/** Compiles only where {@link JoinerProps} has a prop for every setting, of the type of its kind. */
function settingProps(props: Pick<JoinerProps, SettingKey>): SettingProps {
  return props;
}

/** By what it can do: an app may have a copy of CDK of its own, whose classes are not ours. */
export function isDuration(value: unknown): value is Duration {
  if (typeof value !== 'object' || value === null) return false;
  return typeof Reflect.get(value, 'toMilliseconds') === 'function';
}

/** The text of a setting's variable; `rate`: by which a default price is multiplied. */
export function settingText(key: SettingKey, props: JoinerProps, rate: number): string {
  const { kind, default: standard } = settingOf(key);
  const given = settingProps(props)[key];
  if (isDuration(given)) return kind.write(given.toMilliseconds());
  if (given !== undefined) return kind.write(given);
  return kind.write(kind.name === 'money' ? Number(standard) * rate : standard);
}
