import { describe, expect, it } from 'vitest';
import { REASONS } from '../../shared/core/explain/definitions.ts';
import { joiner } from './run.ts';
import { validated } from './validated.ts';

describe('joiner schema', () => {
  it('lists what there is', async () => {
    expect(await joiner('schema')).toEqual({
      exitCode: 0,
      stdout: [
        'decision  a record of a decision, in the bucket',
        'reason    a reason with its parameters',
        'savings   the document of joiner savings -o json',
        'backtest  the document of joiner backtest -o json',
        'shadow    the document of joiner shadow report -o json',
        'advise    the document of joiner advise -o json',
        '',
      ].join('\n'),
      stderr: '',
    });
  });

  it('prints JSON Schema with each reason', async () => {
    const { exitCode, stdout } = await joiner('schema', 'reason');
    const { $schema, title, anyOf } = JSON.parse(stdout);
    expect([exitCode, title]).toEqual([0, 'reason']);
    expect($schema).toBe('https://json-schema.org/draft/2020-12/schema');
    const codes = anyOf.map((each: { properties: { code: { const: string } } }) => {
      return each.properties.code.const;
    });
    expect(codes).toEqual(Object.keys(REASONS));
  });

  it('prints that of a record', async () => {
    const { stdout } = await joiner('schema', 'decision');
    const { required, properties } = JSON.parse(stdout);
    expect(required).toEqual(Object.keys(properties));
    expect(required).toContain('reasons');
  });

  it.each(['savings', 'backtest', 'advise', 'shadow'])(
    'prints that of %s, whose fields are all there',
    async (name) => {
      const { required, properties, additionalProperties } = JSON.parse(
        (await joiner('schema', name)).stdout,
      );
      expect(required).toEqual(Object.keys(properties));
      expect(additionalProperties).toBe(false);
      await expect(validated(name, {})).rejects.toThrow();
    },
  );

  it('refuses a name that it does not know', async () => {
    const { exitCode, stdout, stderr } = await joiner('schema', 'pod');
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain('pod: there is no schema of that name');
  });
});
