package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}
import iceberglite.spec.expr.{Expression, Predicate, Term}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedType, PrimitiveType}
import iceberglite.spec.types.Literal._

/**
 * The JSON form of an expression, such as `{"type":"eq","term":"id","value":1}`. It is used in the `residual-filter` of
 * a scan task (spec: "File Scan Task Serialization"), and in the scan plans and reports of a REST catalog.
 *
 * JSON does not distinguish an int from a long, or a date from a string. Without a schema, numbers are read as longs
 * and doubles, and all other values as booleans and strings. Binding converts the values to the types of the columns.
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

  // The predicates by name. Names with underscores instead of hyphens are also accepted.
  private val unaryPredicates: Map[String, Term => Predicate] =
    Map("is-null" -> IsNull, "not-null" -> NotNull, "is-nan" -> IsNan, "not-nan" -> NotNan)
  private val comparisonPredicates: Map[String, (Term, Literal) => Predicate] = Map(
    "lt" -> LessThan,
    "lt-eq" -> LessThanOrEqual,
    "gt" -> GreaterThan,
    "gt-eq" -> GreaterThanOrEqual,
    "eq" -> Equal,
    "not-eq" -> NotEqual
  )
  private val prefixPredicates: Map[String, (Term, String) => Predicate] =
    Map("starts-with" -> StartsWith, "not-starts-with" -> NotStartsWith)
  private val setPredicates: Map[String, (Term, Set[Literal]) => Predicate] = Map("in" -> In, "not-in" -> NotIn)

  override def read(json: JsonValue): Expression = new ExpressionReader(None).read(json)

  /**
   * Reads an expression whose values have the types of the columns.
   *
   * @throws iceberglite.spec.IcebergError.InvalidMetadata if the JSON is invalid, or if the schema lacks a column
   */
  def read(json: JsonValue, schema: Schema, caseSensitive: Boolean = true): Expression =
    new ExpressionReader(Some(name => schema.find(name, caseSensitive).map(_.fieldType))).read(json)

  /** Reads expressions. @param typeOf returns the type of a column; absent if the types of the columns are unknown */
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
      def rejectKey(key: String): Unit =
        if (json.has(key)) json(key).fail(s"The predicate $name must not have the key $key")
      if (!setPredicates.contains(name)) rejectKey(Values)
      if (unaryPredicates.contains(name) || setPredicates.contains(name)) rejectKey(Value)
      unaryPredicates.get(name).map(make => make(term(json(TermKey))))
        .orElse(comparisonPredicates.get(name).map { make =>
          make(term(json(TermKey)), value(json(TermKey), json(Value)))
        })
        .orElse(prefixPredicates.get(name).map(make => make(term(json(TermKey)), literalValue(json(Value)).string)))
        .orElse(setPredicates.get(name).map { make =>
          make(term(json(TermKey)), json(Values).map(value(json(TermKey), _)).toSet)
        })
        .getOrElse(json(Type).fail(s"Unknown predicate: $name"))
    }

    private def term(json: JsonValue): Term =
      if (json.isText) Term.Named(json.string)
      else json(Type).lowerCase match {
        case Reference => Term.Named(json.string(TermKey))
        case Transform => Term.Transformed(SourceJson.transform(json), term(json(TermKey)))
        case other => json(Type).fail(s"Unknown term: $other")
      }

    /**
     * Returns the value of a literal. In JSON, a literal is either a value, or an object of type `literal` that
     * contains the value.
     */
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
      case Term.Transformed(transform, source) =>
        val sourceType = valueType(json, source, types)
        if (!transform.canTransform(sourceType)) json.fail(s"$transform does not support the type $sourceType")
        transform.resultType(sourceType)
      case Term.Named(name) =>
        val columnType =
          try types(name)
          catch { case e: InvalidArgument => json.fail(e.getMessage) }
        columnType match {
          case Some(primitive: PrimitiveType) => primitive
          case Some(nested: NestedType) =>
            json.fail(s"Column $name is a $nested, but a filter needs a primitive column")
          case None => json.fail(s"There is no column $name")
        }
      case Term.Bound(field, _) => json.fail(s"The bound term $field cannot be used in JSON")
      case _: Term.Part => json.fail(s"The term $term cannot be used in JSON")
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
    case Not(operand) => node(out, "not")(child(Child, operand, out))
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
      test(name)(JsonFormat.writeArray(out, Values, values.toVector.sortBy(_.toString))(SingleValueJson.write(_, out)))
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
      case _: BoxIntersects | _: BoxDisjoint =>
        throw Unsupported(s"the filter $p in JSON", "The specification has no JSON form of filters on geometries")
    }
  }

  private def writeTerm(term: Term, out: JsonGenerator): Unit = {
    out.writeFieldName(TermKey)
    term match {
      case Term.Named(name) => out.writeString(name)
      case Term.Bound(_, name) => out.writeString(name)
      case Term.Transformed(transform, source) =>
        out.writeStartObject()
        out.writeStringField(Type, Transform)
        SourceJson.writeTransform(transform, out)
        writeTerm(source, out)
        out.writeEndObject()
      case _: Term.Part =>
        throw Unsupported(s"the term $term in JSON", "The specification has no JSON form of parts of variants")
    }
  }

  private def node(out: JsonGenerator, name: String)(writeOperands: => Unit): Unit = {
    out.writeStartObject()
    out.writeStringField(Type, name)
    writeOperands
    out.writeEndObject()
  }

  private def child(key: String, e: Expression, out: JsonGenerator): Unit = {
    out.writeFieldName(key)
    write(e, out)
  }
}
