import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { OpenAPIV3 } from 'openapi-types';
import { readPackageFile } from '../../domain/common/package-root.ts';
import type { OperationId } from '../../operations/operation.ts';
import { ERROR_STYLES, type ErrorStyle } from '../wire/error-style.ts';
import type { CompiledContract } from './compiled/compiled-contract.ts';
import type { ExtendedOperation } from './compiled/extended-operation.ts';
import { readCompiledContract } from './compiled/read-compiled-contract.ts';
import { readFieldAliases } from './compiled/read-field-aliases.ts';

export type { ExtendedOperation } from './compiled/extended-operation.ts';

/** The contract as it is served and as it is built from. */
export interface ContractDocument {
  readonly yaml: string;
  readonly json: string;
  readonly definition: OpenAPIV3.Document;
  /** What the build made of it; without that, it is compiled where it is used. */
  readonly compiled?: CompiledContract;
}

/** Where the build puts what it makes of the contract, beside its bundles. Nothing of the kind lies beside the source. */
const COMPILED_FOLDER = fileURLToPath(new URL('./contract', import.meta.url));

/** Reads `openapi.yaml` of the installation, and what the build made of it if it still is that. */
export function readContract(): ContractDocument {
  const yaml = readPackageFile('openapi.yaml');
  const compiled = readCompiledContract(COMPILED_FOLDER, yaml);
  if (compiled === null) {
    const definition = parseYaml(yaml);
    return { yaml, json: JSON.stringify(definition), definition };
  }
  // The texts are large and seldom asked for.
  return {
    get yaml() {
      return readPackageFile('openapi.yaml');
    },
    get json() {
      return compiled.readJson();
    },
    get definition(): OpenAPIV3.Document {
      return JSON.parse(compiled.readJson());
    },
    compiled,
  };
}

/** The parser is only loaded where nothing was built. */
function parseYaml(text: string): OpenAPIV3.Document {
  const { parse }: typeof import('yaml') = createRequire(import.meta.url)('yaml');
  return parse(text);
}

/** What the HTTP side has to know of an operation, read once when the service starts. */
export interface ContractOperation {
  readonly id: OperationId;
  /** Upper case. */
  readonly method: string;
  /** The path and its aliases, without the slash at the end. */
  readonly paths: readonly string[];
  readonly errorStyle: ErrorStyle;
  /** The security schemes of which one has to be met; none for an open operation. */
  readonly securitySchemes: ReadonlySet<string>;
  /** Whether it runs in one project: its path names one, or it takes a project API key. */
  readonly runsInProject: boolean;
  readonly requiredScope: string | null;
  readonly hasBody: boolean;
  /** Other names of fields of the body, each with the name that the contract lists. */
  readonly fieldAliases: ReadonlyMap<string, string>;
  /** The media type of a body that is taken as text; null when it is JSON. */
  readonly textBody: string | null;
  /** The kind of its body in the table of bounds; null when it takes none. */
  readonly bodyKind: string | null;
  /** Whether it bypasses Hapi, whose request life cycle costs more than its work. */
  readonly isFast: boolean;
  readonly hasHeaderParameters: boolean;
  readonly queryNames: ReadonlySet<string>;
  readonly booleanQueryNames: ReadonlySet<string>;
  /** Whether a successful reply may have no body although it declares one. */
  readonly mayBeEmpty: boolean;
  /** The media type of each declared status; null for a status without a body. */
  readonly mediaTypes: ReadonlyMap<number, string | null>;
}

/** Reads one dereferenced operation. `id` is its operationId, known to have a handler. */
export function readOperation(operation: ExtendedOperation, id: OperationId): ContractOperation {
  const query = (operation.parameters ?? []).filter(isQueryParameter);
  return {
    id,
    method: operation.method.toUpperCase(),
    paths: [operation.path, ...(operation['x-alias-paths'] ?? [])].map(withoutSlash),
    errorStyle: errorStyleOf(operation),
    securitySchemes: new Set((operation.security ?? []).flatMap(Object.keys)),
    runsInProject:
      operation.path.includes('{project_id}') || query.some(({ name }) => name === 'token'),
    requiredScope: operation['x-required-scope'] ?? null,
    mayBeEmpty: operation['x-may-be-empty'] === true,
    hasBody: operation.requestBody !== undefined,
    fieldAliases: readFieldAliases(jsonSchemaOf(operation.requestBody)),
    textBody: textBodyOf(operation.requestBody),
    bodyKind: bodyKindOf(operation),
    isFast: operation['x-lane'] === 'fast',
    hasHeaderParameters: (operation.parameters ?? []).some(isHeaderParameter),
    queryNames: new Set(query.map((parameter) => parameter.name)),
    booleanQueryNames: new Set(query.filter(isBoolean).map((parameter) => parameter.name)),
    mediaTypes: new Map(
      Object.entries(operation.responses).map(([status, response]) => [
        Number(status),
        mediaTypeOf(response),
      ]),
    ),
  };
}

function jsonSchemaOf(body: ExtendedOperation['requestBody']): unknown {
  return body !== undefined && 'content' in body
    ? body.content['application/json']?.schema
    : undefined;
}

/** Bodies are JSON unless the contract only declares some kind of text for them. */
function textBodyOf(body: ExtendedOperation['requestBody']): string | null {
  if (body === undefined || !('content' in body)) return null;
  const types = Object.keys(body.content);
  if (types.includes('application/json')) return null;
  return types.find((type) => type.startsWith('text/')) ?? null;
}

function bodyKindOf(operation: ExtendedOperation): string | null {
  if (operation['x-body'] !== undefined) return operation['x-body'];
  if (operation.requestBody === undefined) return null;
  return textBodyOf(operation.requestBody) === null ? 'json' : 'text';
}

/** The path without the slash at its end, which is optional on every path. */
export function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function errorStyleOf(operation: ExtendedOperation): ErrorStyle {
  const [tag] = operation.tags ?? [];
  return ERROR_STYLES.find((style) => style === tag) ?? 'management';
}

function mediaTypeOf(
  response: OpenAPIV3.ReferenceObject | OpenAPIV3.ResponseObject,
): string | null {
  const content = 'content' in response ? response.content : undefined;
  return Object.keys(content ?? {})[0] ?? null;
}

function isQueryParameter(
  parameter: OpenAPIV3.ReferenceObject | OpenAPIV3.ParameterObject,
): parameter is OpenAPIV3.ParameterObject {
  return 'in' in parameter && parameter.in === 'query';
}

function isHeaderParameter(
  parameter: OpenAPIV3.ReferenceObject | OpenAPIV3.ParameterObject,
): boolean {
  return 'in' in parameter && parameter.in === 'header';
}

function isBoolean(parameter: OpenAPIV3.ParameterObject): boolean {
  const schema = parameter.schema;
  return schema !== undefined && 'type' in schema && schema.type === 'boolean';
}
