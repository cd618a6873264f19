package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.{ContentFile, ScanTask}

/**
 * The JSON form of a scan task (spec: "Appendix C - File Scan Task Serialization"). As in Apache Iceberg, the keys
 * `start` and `length` of the range in the file are also written.
 */
object ScanTaskJson extends JsonFormat[ScanTask] {
  private val TaskType = "task-type"
  private val FileScanTask = "file-scan-task"
  private val Schema = "schema"
  private val Spec = "spec"
  private val DataFile = "data-file"
  private val DeleteFiles = "delete-files"
  private val Residual = "residual-filter"
  private val Start = "start"
  private val Length = "length"

  override def read(json: JsonValue): ScanTask = {
    json.optional(TaskType).filter(_.lowerCase != FileScanTask).foreach(t => t.fail(s"It is not a $FileScanTask"))
    val schema = SchemaJson.read(json(Schema))
    val spec = PartitionSpecJson.read(json(Spec))
    val files = new ContentFileJson(Map(spec.specId -> spec), schema)
    val dataFile = files.read(json(DataFile))
    ScanTask(
      schema,
      spec,
      dataFile,
      json.mapOf(DeleteFiles)(files.read),
      json.optional(Residual).fold[iceberglite.spec.expr.Expression](AlwaysTrue)(ExpressionJson.read),
      json.optionalCount(Start).getOrElse(0L),
      json.optionalCount(Length).getOrElse(dataFile.fileSizeInBytes)
    )
  }

  override def write(task: ScanTask, out: JsonGenerator): Unit = {
    val files = new ContentFileJson(Map(task.spec.specId -> task.spec), task.schema)
    def file(key: String, value: ContentFile): Unit = {
      out.writeFieldName(key)
      files.write(value, out)
    }
    out.writeStartObject()
    out.writeStringField(TaskType, FileScanTask)
    out.writeFieldName(Schema)
    SchemaJson.write(task.schema, out)
    out.writeFieldName(Spec)
    PartitionSpecJson.write(task.spec, out)
    file(DataFile, task.dataFile)
    out.writeNumberField(Start, task.start)
    out.writeNumberField(Length, task.length)
    JsonFormat.writeArray(out, DeleteFiles, task.deleteFiles)(files.write(_, out))
    out.writeFieldName(Residual)
    ExpressionJson.write(task.residual, out)
    out.writeEndObject()
  }
}
