import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { OpenAPIV3 } from 'openapi-types';
import { closeSchemas, collectReplySchemas } from './reply-schemas.ts';

export interface CompiledReplies {
  readonly ajv: Ajv;
  /** Of every JSON reply with a schema; each is a key of `ajv` once its validator was asked for. */
  readonly names: readonly string[];
  /** Compiles the validator of a reply when it is asked for; undefined without a schema. */
  validatorOf(name: string): ValidateFunction | undefined;
}

/**
 * The validators of replies. The contract's replies are open so that fields may be added, but here
 * they are closed, so that an undocumented field is a finding.
 */
export function compileReplies(definition: OpenAPIV3.Document): CompiledReplies {
  const ajv = new Ajv({
    strict: false,
    allErrors: false,
    inlineRefs: false,
    code: { source: true },
  });
  addFormats.default(ajv);
  for (const [name, schema] of Object.entries(definition.components?.schemas ?? {})) {
    // A schema of its own each, so that all replies share one validator of it.
    ajv.addSchema(closeSchemas(schema, definition), `contract#/components/schemas/${name}`);
  }
  const schemas = collectReplySchemas(definition);
  return {
    ajv,
    names: [...schemas.keys()],
    validatorOf(name) {
      const known = ajv.getSchema(name);
      const schema = schemas.get(name);
      if (known !== undefined || schema === undefined) return known;
      return ajv.addSchema(closeSchemas(schema, definition), name).getSchema(name);
    },
  };
}
