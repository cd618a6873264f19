package iceberglite.spec.rest

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.{Content, ContentFile}
import iceberglite.spec.json.{ContentFileJson, ExpressionJson, JsonFormat, JsonValue}
import iceberglite.spec.partition.{PartitionSpec, Void}
import iceberglite.spec.schema.Schema

/**
 * Reads the scan plans of a REST server. Their form is defined by the OpenAPI description of the REST catalog. The
 * parameter `file` of the methods is the name of the response, for messages.
 *
 * @param specs the partition specs of the table by id
 * @param sources the schema that contains the source columns of the partition fields
 * @param schema the schema of the scan, which determines the types of the values in filters
 */
final class ScanPlanJson(specs: Map[Int, PartitionSpec], sources: Schema, schema: Schema, caseSensitive: Boolean) {
  import ScanPlanJson._

  private val files = new ContentFileJson(specs, sources, dropsInvalidBounds = true)

  /**
   * Reads the response to a request for a plan.
   *
   * @throws iceberglite.spec.IcebergError.InvalidMetadata if the response is invalid
   */
  def state(file: String, json: Array[Byte]): PlanState = {
    val root = JsonValue.parse(file, json)
    val status = root(Status)
    status.string match {
      case "completed" =>
        val credentials = RestResponseJson.credentials(file, root)
        PlanState.Completed(root.optionalString(PlanId), tasks(root), credentials)
      case "submitted" => PlanState.Submitted(root.optionalString(PlanId))
      case "cancelled" => PlanState.Cancelled
      case "failed" => PlanState.Failed(RestResponseJson.errorOf(root))
      case other => status.fail(s"Unknown status of a plan: $other")
    }
  }

  /**
   * Reads the files of a plan task.
   *
   * @throws iceberglite.spec.IcebergError.InvalidMetadata if the response is invalid
   */
  def tasks(file: String, json: Array[Byte]): PlannedFiles = tasks(JsonValue.parse(file, json))

  private def tasks(root: JsonValue): PlannedFiles = {
    val deletes = root.mapOf(DeleteFiles)(deleteFile)
    PlannedFiles(root.mapOf(FileScanTasks)(task(_, deletes)), root.mapOf(PlanTasks)(_.string))
  }

  /** Reads a file. A partitioned file without the key `partition` is rejected. */
  private def contentFile(json: JsonValue): ContentFile = {
    val file = files.read(json)
    val isPartitioned = specs.get(file.specId).exists(_.fields.exists(_.transform != Void))
    if (isPartitioned && !json.has(Partition)) json.fail(s"The key $Partition is missing")
    file
  }

  private def deleteFile(json: JsonValue): ContentFile = {
    val file = contentFile(json)
    if (file.content == Content.Data) json("content").fail("A delete file must not have the content data")
    if (file.isDeletionVector && (file.contentOffset.isEmpty || file.contentSizeInBytes.isEmpty))
      json.fail("A deletion vector must have the keys content-offset and content-size-in-bytes")
    file
  }

  private def task(json: JsonValue, deletes: Vector[ContentFile]): PlannedFile = {
    val dataFile = contentFile(json(DataFile))
    if (dataFile.content != Content.Data) json(DataFile)("content").fail("A data file must have the content data")
    if (!specs.contains(dataFile.specId))
      json(DataFile)("spec-id").fail(s"The table has no partition spec ${dataFile.specId}")
    PlannedFile(
      dataFile,
      json.mapOf(DeleteReferences) { index =>
        val delete = deletes.lift(index.int)
          .getOrElse(index.fail(s"There is no delete file ${index.int}: the response has ${deletes.size}"))
        if (refersTo(delete, dataFile)) delete
        else otherVector(delete, dataFile, deletes).getOrElse(
          index.fail(s"The delete file does not apply to this data file, but to ${delete.referencedDataFile.mkString}")
        )
      },
      json.optional(Residual).map(ExpressionJson.read(_, schema, caseSensitive))
    )
  }
}

object ScanPlanJson {

  private def refersTo(delete: ContentFile, data: ContentFile): Boolean =
    delete.referencedDataFile.forall(_ == data.path)

  /**
   * Returns the deletion vector of a data file, if a task refers to another vector in the same Puffin file. The server
   * library of Apache Iceberg 1.11 looks up delete files by path, so all its references to a Puffin file are the same.
   */
  private def otherVector(found: ContentFile, data: ContentFile, deletes: Vector[ContentFile]): Option[ContentFile] =
    if (!found.isDeletionVector) None
    else deletes.find(d => d.path == found.path && d.referencedDataFile.contains(data.path))

  private val Status = "status"
  private val PlanId = "plan-id"
  private val PlanTasks = "plan-tasks"
  private val FileScanTasks = "file-scan-tasks"
  private val DeleteFiles = "delete-files"
  private val DataFile = "data-file"
  private val Partition = "partition"
  private val DeleteReferences = "delete-file-references"
  private val Residual = "residual-filter"

  /** Returns the id of a plan from a response that may be invalid otherwise; absent if there is none. */
  def planId(file: String, json: Array[Byte]): Option[String] =
    try JsonValue.parse(file, json).optionalString(PlanId)
    catch { case _: InvalidMetadata => None }

  /** Writes the body of a request to plan a scan. */
  def request(plan: ScanPlanRequest): Array[Byte] = body { out =>
    out.writeNumberField("snapshot-id", plan.snapshotId)
    if (plan.filter != AlwaysTrue) {
      out.writeFieldName("filter")
      ExpressionJson.write(plan.filter, out)
    }
    plan.minRows.foreach(out.writeNumberField("min-rows-requested", _))
    out.writeBooleanField("case-sensitive", plan.caseSensitive)
    out.writeBooleanField("use-snapshot-schema", plan.usesSnapshotSchema)
    if (plan.statsFields.nonEmpty) JsonFormat.writeArray(out, "stats-fields", plan.statsFields)(out.writeString)
  }

  /** Writes the body of a request for the files of a plan task. */
  def fetchTasks(planTask: String): Array[Byte] = body(_.writeStringField("plan-task", planTask))

  private def body(writeMembers: JsonGenerator => Unit): Array[Byte] = JsonFormat.bytes { out =>
    out.writeStartObject()
    writeMembers(out)
    out.writeEndObject()
  }
}
