package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.partition.TableExpression

/** The JSON form of a table expression (version 4: `expressions` of table metadata). */
private[json] object TableExpressionJson extends JsonFormat[TableExpression] {
  val Id = "expr-id"
  private val Expr = "expr"
  private val Name = "name"
  private val PartitionFieldId = "partition-field-id"

  /** Reads an expression. The id of the partition field may also be inside `expr`. */
  override def read(json: JsonValue): TableExpression = {
    val expr = json(Expr)
    TableExpression(
      json(Id).int,
      SourceJson.ids(expr),
      SourceJson.transform(expr),
      expr.string(Name),
      json.optionalInt(PartitionFieldId).orElse(expr.optionalInt(PartitionFieldId))
    )
  }

  override def write(e: TableExpression, out: JsonGenerator): Unit = {
    out.writeStartObject()
    out.writeNumberField(Id, e.id)
    out.writeObjectFieldStart(Expr)
    SourceJson.writeIds(e.sourceIds, out)
    SourceJson.writeTransform(e.transform, out)
    out.writeStringField(Name, e.name)
    out.writeEndObject()
    e.partitionFieldId.foreach(out.writeNumberField(PartitionFieldId, _))
    out.writeEndObject()
  }

  /** Returns a list of expressions as JSON. */
  def listToJson(expressions: Vector[TableExpression]): String = JsonFormat.text { out =>
    out.writeStartArray()
    expressions.foreach(write(_, out))
    out.writeEndArray()
  }
}
