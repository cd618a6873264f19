package iceberglite.spec.rest

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.expr.{Expression, Predicate, Term}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.json.{ExpressionJson, JsonFormat}
import iceberglite.spec.rest.MetricsReport.{OfCommit, OfScan}
import iceberglite.spec.types.Literal
import iceberglite.spec.types.Literal.StringLiteral

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
    ExpressionJson.write(redacted(scan.filter), out)
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

  /** Replaces the constants of a filter by their types, because the values may be confidential. */
  private def redacted(filter: Expression): Expression = filter match {
    case And(left, right) => And(redacted(left), redacted(right))
    case Or(left, right) => Or(redacted(left), redacted(right))
    case Not(child) => Not(redacted(child))
    // Filters on parts of variants have no JSON form. A report shows only which column they test.
    case OnPart(column) => NotNull(column)
    case LessThan(term, value) => LessThan(term, typeOf(value))
    case LessThanOrEqual(term, value) => LessThanOrEqual(term, typeOf(value))
    case GreaterThan(term, value) => GreaterThan(term, typeOf(value))
    case GreaterThanOrEqual(term, value) => GreaterThanOrEqual(term, typeOf(value))
    case Equal(term, value) => Equal(term, typeOf(value))
    case NotEqual(term, value) => NotEqual(term, typeOf(value))
    case StartsWith(term, _) => StartsWith(term, "(string)")
    case NotStartsWith(term, _) => NotStartsWith(term, "(string)")
    case In(term, values) => In(term, values.map(typeOf))
    case NotIn(term, values) => NotIn(term, values.map(typeOf))
    // Filters on geometries have no JSON form. A report shows only which column they test.
    case BoxIntersects(term, _) => NotNull(term)
    case BoxDisjoint(term, _) => NotNull(term)
    case AlwaysTrue | AlwaysFalse | IsNull(_) | NotNull(_) | IsNan(_) | NotNan(_) => filter
  }

  /** Matches a test of a part of a variant, and returns its column. */
  private object OnPart {
    def unapply(p: Predicate): Option[Term] = p.term match {
      case Term.Part(column, _, _) => Some(column)
      case _ => None
    }
  }

  private def typeOf(value: Literal): Literal = StringLiteral(s"(${value.dataType})")
}
