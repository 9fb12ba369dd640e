import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duration } from 'aws-cdk-lib';
import { afterAll, describe, expect, it } from 'vitest';
import { readSettings } from '../../cli/simulate/settings-file.ts';
import { propFaults } from '../../infra/constructs/props-check.ts';
import { propsFromContext } from '../../infra/context.ts';
import { decodeSettings } from '../../shared/api/stack-settings.ts';
import { appSettings, stackSettings } from '../../shared/app/settings.ts';
import { DEFAULT_LAUNCH_SETTINGS } from '../../shared/catalog/settings.ts';
import {
  DEFAULT_SETTINGS,
  SETTING_KEYS,
  type SettingKey,
  settingOf,
} from '../../shared/contract/settings.ts';
import { resources, type Synthesised, synthesise } from './synthesis.ts';

const root = join(import.meta.dirname, '../..');
const page = (path: string): string => readFileSync(join(root, path), 'utf8');

const folder = mkdtempSync(join(tmpdir(), 'joiner-settings-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The stack of `-c NAME=TEXT`. */
function stackOf(given: Readonly<Record<string, string>>): Synthesised {
  const props = propsFromContext({ cluster: 'demo', ...given });
  expect(propFaults(props)).toEqual([]);
  return synthesise(Object.assign({ cluster: 'demo' }, props));
}

const FUNCTION = 'AWS::Lambda::Function';
const INSTALL = 'Custom::JoinerInstall';
const standard = synthesise({ cluster: 'demo' });

const texts = (stack: Synthesised, type: string): string =>
  JSON.stringify([...resources(stack, type).values()]);

/** `NAME: TEXT` in a settings file. */
function fileWith(key: SettingKey, text: string): string {
  const file = join(folder, `${key}.yaml`);
  const value = settingOf(key).kind.name === 'gates' ? `{ ${text.replace('=', ': ')} }` : text;
  writeFileSync(file, `${key}: ${value}\n`);
  return file;
}

/** The value of a variable's text; throws where it is refused. */
function decoded(key: SettingKey, text: string): unknown {
  const found = decodeSettings({ [settingOf(key).variable]: text });
  if (!found.ok) throw new Error(JSON.stringify(found.issues));
  return found.value[key];
}

/** A text of the setting's kind that is not its default. */
function otherText(key: SettingKey): string {
  const { kind, default: usual } = settingOf(key);
  const words = [...kind.words.matchAll(/'(\w+)'/g)].map(([, word = '']) => word);
  const found = [
    ...words,
    '7',
    '0.07',
    '1s',
    'true',
    'false',
    'NodeRepair=true',
    'batch nodes=7',
  ].find((text) => {
    const read = kind.read(text);
    return 'value' in read && kind.write(read.value) !== kind.write(usual);
  });
  if (found === undefined) throw new Error(`${key} has no other value`);
  return found;
}

/** Defaults of the options' table in docs/deploy.md, by prop. */
const DOCUMENTED: ReadonlyMap<string, string> = new Map(
  page('docs/deploy.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => {
      const [, props = '', defaults = ''] = line.split('|');
      const values = defaults.split(',').map((each) => each.trim().replaceAll('`', ''));
      return [...props.matchAll(/`(\w+)`/g)].map(
        ([, prop = ''], at) => [prop, values[at] ?? ''] as const,
      );
    }),
);

/** `@default` of the props' comments as the values that they stand for. */
function statedDefault(key: SettingKey): unknown {
  const source = page('infra/constructs/joiner-props.ts');
  const [before = ''] = source.split(new RegExp(`readonly ${key}\\?:`));
  const text = before.slice(before.lastIndexOf('@default') + '@default'.length).trim();
  const [, unit, amount] = /^Duration\.(\w+)\((\d+)\)/.exec(text) ?? [];
  const make = unit === undefined ? undefined : Reflect.get(Duration, unit);
  if (typeof make === 'function') return make(Number(amount)).toMilliseconds();
  const [word = ''] = /^[\w.']+/.exec(text) ?? [];
  if (word === 'true' || word === 'false') return word === 'true';
  return word.startsWith("'") ? word.replaceAll("'", '') : Number(word);
}

const GATES = 'featureGates';
const WITHOUT_GATES = SETTING_KEYS.filter((key) => key !== GATES);

describe('the default of', () => {
  it.each(SETTING_KEYS)('%s is allowed, and read from what it is written as', (key) => {
    const { kind, default: usual, variable } = settingOf(key);
    expect(kind.accepts(usual)).toBe(true);
    expect(decoded(key, kind.write(usual))).toEqual(usual);
    expect(decoded(key, kind.show(usual))).toEqual(usual);
    expect(texts(standard, FUNCTION)).toContain(`"${variable}":"${kind.write(usual)}"`);
  });

  it.each(WITHOUT_GATES)('%s is what docs/deploy.md says, for every reader of it', (key) => {
    const { use, default: usual } = settingOf(key);
    const text = DOCUMENTED.get(key) ?? '';
    expect(decoded(key, text)).toEqual(usual);
    if (use !== 'decisions') return;
    expect(readSettings(fileWith(key, text))).toEqual(stackSettings(DEFAULT_SETTINGS));
  });

  it('each, given with -c as docs/deploy.md has it, is the stack without it', () => {
    const given = WITHOUT_GATES.map((key) => [key, DOCUMENTED.get(key) ?? '']);
    const stack = stackOf(Object.fromEntries(given));
    expect(texts(stack, FUNCTION)).toBe(texts(standard, FUNCTION));
    expect(texts(stack, INSTALL)).toBe(texts(standard, INSTALL));
  });

  it.each(WITHOUT_GATES)('%s is what the comment of its prop says', (key) => {
    expect(statedDefault(key)).toEqual(settingOf(key).default);
  });

  it('the gates is what both say', () => {
    const { default: gates } = settingOf(GATES);
    const on = Object.entries(Object(gates)).filter(([, isOn]) => isOn);
    const said = page('docs/deploy.md')
      .split('\n')
      .find((line) => line.startsWith(`| \`${GATES}`));
    const [comment = ''] = page('infra/constructs/joiner-props.ts').split(`readonly ${GATES}`);
    for (const text of [
      said?.split('|')[2] ?? '',
      comment.slice(comment.lastIndexOf('@default')),
    ]) {
      const named = [...text.matchAll(/[A-Z][a-z]+[A-Z]\w+/g)].map(([name]) => name);
      expect(named.toSorted()).toEqual(on.map(([name]) => name).toSorted());
    }
  });

  it('every setting is that of what decides without a stack', () => {
    const envelope = { accountId: '111122223333', region: 'eu-west-1' };
    const { useCases, memoryOverhead, reservedEnis } = stackSettings(DEFAULT_SETTINGS);
    expect(appSettings('demo', envelope)).toMatchObject(useCases);
    expect(memoryOverhead).toBe(DEFAULT_LAUNCH_SETTINGS.memoryOverhead);
    expect(reservedEnis).toBe(DEFAULT_LAUNCH_SETTINGS.reservedNetworkInterfaces);
  });
});

describe('another value of', () => {
  const stack = stackOf(Object.fromEntries(SETTING_KEYS.map((key) => [key, otherText(key)])));

  it.each(SETTING_KEYS)('%s gets from -c to the functions and the ConfigMap', (key) => {
    const { variable, kind, use } = settingOf(key);
    const text = otherText(key);
    const value = decoded(key, text);
    const written = `"${variable}":"${kind.write(value)}"`;
    expect(texts(stack, FUNCTION)).toContain(written);
    expect(texts(standard, FUNCTION)).not.toContain(written);
    // The settings are JSON in a text.
    const isStated = texts(stack, INSTALL).replaceAll('\\', '').includes(written);
    expect(isStated).toBe(use !== 'functions');
    expect(decoded(key, kind.write(value))).toEqual(value);
  });

  it.each(SETTING_KEYS)('%s is read from a settings file where decisions depend on it', (key) => {
    const { use } = settingOf(key);
    const text = otherText(key);
    const read = () => readSettings(fileWith(key, text));
    if (use !== 'decisions') return expect(read).toThrow('is not a setting');
    const changed = stackSettings({ ...DEFAULT_SETTINGS, [key]: decoded(key, text) });
    expect(read()).toEqual(changed);
    expect(changed).not.toEqual(stackSettings(DEFAULT_SETTINGS));
  });
});

describe('nonsense', () => {
  it.each(WITHOUT_GATES)('%s: every reader refuses it', (key) => {
    const { variable, use } = settingOf(key);
    expect(() => decoded(key, 'nonsense')).toThrow(`"${variable}","message":"must be `);
    expect(propFaults(propsFromContext({ cluster: 'demo', [key]: 'nonsense' }))).toEqual([
      expect.stringContaining(`${key} is "nonsense", but has to be `),
    ]);
    if (use !== 'decisions') return;
    expect(() => readSettings(fileWith(key, 'nonsense'))).toThrow(`${key} must be `);
  });

  it('a variable that is no text', () => {
    expect(decodeSettings({ RESERVED_ENIS: 1 })).toEqual({
      ok: false,
      issues: [{ path: 'RESERVED_ENIS', message: 'must be a text' }],
    });
  });
});
