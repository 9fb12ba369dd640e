import * as z from 'zod';
import { decisionRecordSchema, reasonSchema } from '../../shared/api/decision-record.ts';
import { adviseSchema } from './advise.ts';
import { backtestSchema } from './backtest.ts';
import { savingsSchema } from './savings.ts';
import { shadowSchema } from './shadow.ts';

/** What a schema describes. */
export interface Schema {
  readonly what: string;
  readonly schema: z.ZodType;
}

/** By name: formats that other programs read. */
export const SCHEMAS: Readonly<Record<string, Schema>> = {
  decision: { what: 'a record of a decision, in the bucket', schema: decisionRecordSchema },
  reason: { what: 'a reason with its parameters', schema: reasonSchema },
  savings: { what: 'the document of joiner savings -o json', schema: savingsSchema },
  backtest: { what: 'the document of joiner backtest -o json', schema: backtestSchema },
  shadow: { what: 'the document of joiner shadow report -o json', schema: shadowSchema },
  advise: { what: 'the document of joiner advise -o json', schema: adviseSchema },
};

/** JSON Schema, draft 2020-12. */
export function jsonSchemaOf(name: string, { what, schema }: Schema): object {
  return { title: name, description: what, ...z.toJSONSchema(schema, { io: 'input' }) };
}
