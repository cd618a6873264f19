package iceberglite.spec.rest

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.expr.Expression._
import iceberglite.spec.expr.{Expression, Predicate, Term}
import iceberglite.spec.json.JsonFormat
import iceberglite.spec.rest.MetricsReport.{OfCommit, OfScan}
import iceberglite.spec.types.Literal

/** Writes the body of a request that reports metrics (REST OpenAPI description: `ReportMetricsRequest`). */
object MetricsReportJson {

  def bytes(report: MetricsReport): Array[Byte] = JsonFormat.bytes { out =>
    out.writeStartObject()
    report match {
      case scan: OfScan => writeScan(scan, out)
      case commit: OfCommit => writeCommit(commit, out)
    }
    out.writeObjectFieldStart("metrics")
    report.metrics.toVector.sortBy(_._1).foreach { case (name, metric) => writeMetric(name, metric, out) }
    out.writeEndObject()
    if (report.metadata.nonEmpty) JsonFormat.writeStrings(out, "metadata", report.metadata)
    out.writeEndObject()
  }

  private def writeScan(scan: OfScan, out: JsonGenerator): Unit = {
    out.writeStringField("report-type", "scan-report")
    out.writeStringField("table-name", scan.table)
    out.writeNumberField("snapshot-id", scan.snapshotId)
    out.writeFieldName("filter")
    writeFilter(scan.filter, out)
    out.writeNumberField("schema-id", scan.schemaId)
    JsonFormat.writeArray(out, "projected-field-ids", scan.fields)(f => out.writeNumber(f.id))
    JsonFormat.writeArray(out, "projected-field-names", scan.fields)(f => out.writeString(f.name))
  }

  private def writeCommit(commit: OfCommit, out: JsonGenerator): Unit = {
    out.writeStringField("report-type", "commit-report")
    out.writeStringField("table-name", commit.table)
    out.writeNumberField("snapshot-id", commit.snapshotId)
    out.writeNumberField("sequence-number", commit.sequenceNumber)
    out.writeStringField("operation", commit.operation)
  }

  private def writeMetric(name: String, metric: Metric, out: JsonGenerator): Unit = {
    out.writeObjectFieldStart(name)
    metric match {
      case Metric.Counter(unit, value) =>
        out.writeStringField("unit", unit)
        out.writeNumberField("value", value)
      case Metric.Timer(count, nanos) =>
        out.writeNumberField("count", count)
        out.writeStringField("time-unit", "nanoseconds")
        out.writeNumberField("total-duration", nanos)
    }
    out.writeEndObject()
  }

  /** Writes a filter. The values of constants are not sent, because they may be confidential. */
  private def writeFilter(filter: Expression, out: JsonGenerator): Unit = filter match {
    case AlwaysTrue => out.writeBoolean(true)
    case AlwaysFalse => out.writeBoolean(false)
    case And(left, right) => writeOperands("and", left, right, out)
    case Or(left, right) => writeOperands("or", left, right, out)
    case Not(child) =>
      out.writeStartObject()
      out.writeStringField("type", "not")
      out.writeFieldName("child")
      writeFilter(child, out)
      out.writeEndObject()
    case predicate: Predicate => writePredicate(predicate, out)
  }

  private def writeOperands(operator: String, left: Expression, right: Expression, out: JsonGenerator): Unit = {
    out.writeStartObject()
    out.writeStringField("type", operator)
    out.writeFieldName("left")
    writeFilter(left, out)
    out.writeFieldName("right")
    writeFilter(right, out)
    out.writeEndObject()
  }

  private def writePredicate(predicate: Predicate, out: JsonGenerator): Unit = {
    out.writeStartObject()
    val (operator, values) = parts(predicate)
    out.writeStringField("type", operator)
    out.writeFieldName("term")
    writeTerm(predicate.term, out)
    values match {
      case Values.None =>
      case Values.One(value) => out.writeStringField("value", value)
      case Values.Many(all) => JsonFormat.writeArray(out, "values", all)(out.writeString)
    }
    out.writeEndObject()
  }

  /** The texts that replace the constants of a predicate. */
  sealed private trait Values
  private object Values {
    case object None extends Values
    final case class One(value: String) extends Values
    final case class Many(values: Vector[String]) extends Values
  }

  private def parts(predicate: Predicate): (String, Values) = predicate match {
    case IsNull(_) => "is-null" -> Values.None
    case NotNull(_) => "not-null" -> Values.None
    case IsNan(_) => "is-nan" -> Values.None
    case NotNan(_) => "not-nan" -> Values.None
    case LessThan(_, value) => "lt" -> Values.One(redacted(value))
    case LessThanOrEqual(_, value) => "lt-eq" -> Values.One(redacted(value))
    case GreaterThan(_, value) => "gt" -> Values.One(redacted(value))
    case GreaterThanOrEqual(_, value) => "gt-eq" -> Values.One(redacted(value))
    case Equal(_, value) => "eq" -> Values.One(redacted(value))
    case NotEqual(_, value) => "not-eq" -> Values.One(redacted(value))
    case StartsWith(_, _) => "starts-with" -> Values.One("(string)")
    case NotStartsWith(_, _) => "not-starts-with" -> Values.One("(string)")
    case In(_, values) => "in" -> Values.Many(values.toVector.map(redacted).distinct)
    case NotIn(_, values) => "not-in" -> Values.Many(values.toVector.map(redacted).distinct)
  }

  private def redacted(value: Literal): String = s"(${value.dataType})"

  private def writeTerm(term: Term, out: JsonGenerator): Unit = term match {
    case Term.Transformed(transform, of) =>
      out.writeStartObject()
      out.writeStringField("type", "transform")
      out.writeStringField("transform", transform.toString)
      out.writeStringField("term", of.toString)
      out.writeEndObject()
    case column => out.writeString(column.toString)
  }
}
