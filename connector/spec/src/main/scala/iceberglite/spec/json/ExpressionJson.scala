package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.expr.{Expression, Predicate, Term}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedType, PrimitiveType}
import iceberglite.spec.types.Literal._

/**
 * An expression in JSON, as in the `residual-filter` of a scan task and in the plans and reports of a REST catalog
 * (spec: "File Scan Task Serialization"): `{"type":"eq","term":"id","value":1}`.
 *
 * JSON does not distinguish an int from a long, or a date from a string. Without a schema, numbers are read as longs
 * and doubles, and all other values as strings; binding converts them to the type of the column.
 */
object ExpressionJson extends JsonFormat[Expression] {
  private[json] val Type = "type"
  private val Child = "child"
  private val Left = "left"
  private val Right = "right"
  private[json] val TermKey = "term"
  private val Value = "value"
  private val Values = "values"
  private[json] val Transform = "transform"
  private val Reference = "reference"
  private val LiteralType = "literal"

  /** The predicates by name. An underscore in a name is also accepted, because Apache Iceberg writes it. */
  private val unary: Map[String, Term => Predicate] =
    Map("is-null" -> IsNull, "not-null" -> NotNull, "is-nan" -> IsNan, "not-nan" -> NotNan)
  private val comparisons: Map[String, (Term, Literal) => Predicate] = Map(
    "lt" -> LessThan,
    "lt-eq" -> LessThanOrEqual,
    "gt" -> GreaterThan,
    "gt-eq" -> GreaterThanOrEqual,
    "eq" -> Equal,
    "not-eq" -> NotEqual
  )
  private val prefixes: Map[String, (Term, String) => Predicate] =
    Map("starts-with" -> StartsWith, "not-starts-with" -> NotStartsWith)
  private val sets: Map[String, (Term, Set[Literal]) => Predicate] = Map("in" -> In, "not-in" -> NotIn)

  override def read(json: JsonValue): Expression = new ExpressionReader(None).read(json)

  /**
   * Reads an expression with values of the columns' types.
   *
   * @throws iceberglite.spec.IcebergError.InvalidMetadata the JSON is invalid, or the schema lacks a column
   */
  def read(json: JsonValue, schema: Schema, caseSensitive: Boolean = true): Expression =
    new ExpressionReader(Some(name => schema.find(name, caseSensitive).map(_.fieldType))).read(json)

  /** @param typeOf returns the type of a column; absent if the types are unknown */
  final private class ExpressionReader(typeOf: Option[String => Option[iceberglite.spec.types.Type]]) {

    def read(json: JsonValue): Expression =
      if (json.isBoolean) constant(json.boolean)
      else json(Type).lowerCase.replace('_', '-') match {
        case "true" => AlwaysTrue
        case "false" => AlwaysFalse
        case LiteralType => constant(json(Value).boolean)
        case "not" => Not(read(json(Child)))
        case "and" => And(read(json(Left)), read(json(Right)))
        case "or" => Or(read(json(Left)), read(json(Right)))
        case name => predicate(name, json)
      }

    private def constant(value: Boolean): Expression = if (value) AlwaysTrue else AlwaysFalse

    private def predicate(name: String, json: JsonValue): Predicate = {
      def rejectKey(key: String): Unit = if (json.has(key)) json(key).fail(s"$name takes no $key")
      if (!sets.contains(name)) rejectKey(Values)
      if (unary.contains(name) || sets.contains(name)) rejectKey(Value)
      unary.get(name).map(make => make(term(json(TermKey))))
        .orElse(comparisons.get(name).map(make => make(term(json(TermKey)), value(json(TermKey), json(Value)))))
        .orElse(prefixes.get(name).map(make => make(term(json(TermKey)), literalValue(json(Value)).string)))
        .orElse(sets.get(name).map { make =>
          make(term(json(TermKey)), json(Values).map(value(json(TermKey), _)).toSet)
        })
        .getOrElse(json(Type).fail(s"Unknown test: $name"))
    }

    private def term(json: JsonValue): Term =
      if (json.isText) Term.Named(json.string)
      else json(Type).lowerCase match {
        case Reference => Term.Named(json.string(TermKey))
        case Transform => Term.Transformed(SourceJson.transform(json), term(json(TermKey)))
        case other => json(Type).fail(s"Unknown term: $other")
      }

    /** Returns a literal value, which may be wrapped in an object that marks it as a literal. */
    private def literalValue(json: JsonValue): JsonValue =
      if (!json.isObject) json
      else {
        if (json(Type).lowerCase != LiteralType) json(Type).fail(s"Not a literal: ${json.string(Type)}")
        json(Value)
      }

    private def value(termJson: JsonValue, json: JsonValue): Literal =
      typeOf.fold(readUntyped(literalValue(json)))(types =>
        SingleValueJson.read(literalValue(json), valueType(termJson, term(termJson), types))
      )

    private def readUntyped(json: JsonValue): Literal =
      if (json.isText) StringLiteral(json.string)
      else if (json.isBoolean) BooleanLiteral(json.boolean)
      else if (json.isInteger) LongLiteral(json.long)
      else DoubleLiteral(json.double)

    private def valueType(
        json: JsonValue,
        term: Term,
        types: String => Option[iceberglite.spec.types.Type]
    ): PrimitiveType = term match {
      case Term.Transformed(transform, of) =>
        val source = valueType(json, of, types)
        if (!transform.canTransform(source)) json.fail(s"$transform does not support the type $source")
        transform.resultType(source)
      case Term.Named(name) =>
        val found =
          try types(name)
          catch { case e: InvalidArgument => json.fail(e.getMessage) }
        found match {
          case Some(primitive: PrimitiveType) => primitive
          case Some(nested: NestedType) => json.fail(s"Column $name is a $nested, which has no single value")
          case None => json.fail(s"There is no column $name")
        }
      case Term.Bound(field, _) => json.fail(s"$field cannot be written in JSON")
    }
  }

  override def write(e: Expression, out: JsonGenerator): Unit = e match {
    case AlwaysTrue => out.writeBoolean(true)
    case AlwaysFalse => out.writeBoolean(false)
    case And(l, r) => node(out, "and") {
        child(Left, l, out)
        child(Right, r, out)
      }
    case Or(l, r) => node(out, "or") {
        child(Left, l, out)
        child(Right, r, out)
      }
    case Not(of) => node(out, "not")(child(Child, of, out))
    case p: Predicate => writePredicate(p, out)
  }

  private def writePredicate(p: Predicate, out: JsonGenerator): Unit = {
    def test(name: String)(value: => Unit): Unit = node(out, name) {
      writeTerm(p.term, out)
      value
    }
    def writeComparison(name: String, value: Literal): Unit = test(name) {
      out.writeFieldName(Value)
      SingleValueJson.write(value, out)
    }
    def writeSet(name: String, values: Set[Literal]): Unit =
      test(name)(JsonFormat.array(out, Values, values.toVector.sortBy(_.toString))(SingleValueJson.write(_, out)))
    p match {
      case IsNull(_) => test("is-null")(())
      case NotNull(_) => test("not-null")(())
      case IsNan(_) => test("is-nan")(())
      case NotNan(_) => test("not-nan")(())
      case LessThan(_, v) => writeComparison("lt", v)
      case LessThanOrEqual(_, v) => writeComparison("lt-eq", v)
      case GreaterThan(_, v) => writeComparison("gt", v)
      case GreaterThanOrEqual(_, v) => writeComparison("gt-eq", v)
      case Equal(_, v) => writeComparison("eq", v)
      case NotEqual(_, v) => writeComparison("not-eq", v)
      case StartsWith(_, prefix) => writeComparison("starts-with", StringLiteral(prefix))
      case NotStartsWith(_, prefix) => writeComparison("not-starts-with", StringLiteral(prefix))
      case In(_, values) => writeSet("in", values)
      case NotIn(_, values) => writeSet("not-in", values)
    }
  }

  private def writeTerm(term: Term, out: JsonGenerator): Unit = {
    out.writeFieldName(TermKey)
    term match {
      case Term.Named(name) => out.writeString(name)
      case Term.Bound(_, name) => out.writeString(name)
      case Term.Transformed(transform, of) =>
        out.writeStartObject()
        out.writeStringField(Type, Transform)
        SourceJson.writeTransform(transform, out)
        writeTerm(of, out)
        out.writeEndObject()
    }
  }

  private def node(out: JsonGenerator, name: String)(parts: => Unit): Unit = {
    out.writeStartObject()
    out.writeStringField(Type, name)
    parts
    out.writeEndObject()
  }

  private def child(key: String, e: Expression, out: JsonGenerator): Unit = {
    out.writeFieldName(key)
    write(e, out)
  }
}
