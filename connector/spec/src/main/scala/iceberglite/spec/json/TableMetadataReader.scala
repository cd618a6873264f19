package iceberglite.spec.json

import java.util.UUID

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.json.{TableMetadataKey => Key}
import iceberglite.spec.metadata.{MetadataLogEntry, Snapshot, SnapshotLogEntry, SnapshotRef, TableMetadata}
import iceberglite.spec.partition.{PartitionSpec, SortOrder, TableExpression}
import iceberglite.spec.schema.Schema

/** Reads table metadata. Version 1 metadata may lack fields that later versions require. */
private[json] object TableMetadataReader {

  /** The id of the only partition spec of a version 1 table without a list of partition specs. */
  private val V1SpecId = 0

  /**
   * Reads metadata.
   *
   * @param history the snapshots and the snapshot log, if they have already been read; they replace the snapshots and
   *   the snapshot log of the document
   */
  def read(json: JsonValue, history: Option[FastSnapshots]): TableMetadata = {
    val version = formatVersion(json)
    val (schemas, currentSchemaId) = readSchemas(json, version)
    val known = if (version < FormatVersion.V4) KnownExpressions.Empty else readExpressions(json)
    val (specs, defaultSpecId) = readSpecs(json, version, known.expressions)
    val lastId = (json(Key.LastColumnId).int +: schemas.map(_.highestFieldId)).max
    val expressions = known.completed(specs, lastId)
    val (orders, defaultOrderId) = readOrders(json, version)
    val snapshots = history.fold(json.mapOf(Key.Snapshots)(SnapshotJson.read))(_.snapshots)
    val current = json.optionalLong(Key.CurrentSnapshotId).filterNot(_ == Key.NoSnapshot)
    val metadata = TableMetadata(
      formatVersion = version,
      uuid = readUuid(json, version),
      location = json(Key.Location).string,
      lastSequenceNumber = if (version == FormatVersion.V1) 0L else json(Key.LastSequenceNumber).long,
      lastUpdatedMs = json(Key.LastUpdatedMs).long,
      // The value in the file is increased if it is lower than the highest field id of the schemas and expressions,
      // because an id must not be assigned to two columns.
      lastColumnId = (lastId +: expressions.map(_.id)).max,
      schemas = schemas,
      currentSchemaId = currentSchemaId,
      specs = specs,
      defaultSpecId = defaultSpecId,
      lastPartitionId = lastPartitionId(json, specs, version),
      sortOrders = orders,
      defaultSortOrderId = defaultOrderId,
      properties = json.stringsOf(Key.Properties) - Key.ExpressionsCopy,
      currentSnapshotId = current,
      snapshots = snapshots,
      snapshotLog = history.fold(json.mapOf(Key.SnapshotLog)(logEntry))(_.log),
      metadataLog =
        json.mapOf(Key.MetadataLog)(e => MetadataLogEntry(e.long(Key.TimestampMs), e.string(Key.MetadataFile))),
      refs = readRefs(json, current),
      statistics = json.mapOf(Key.Statistics)(StatisticsJson.read),
      partitionStatistics = json.mapOf(Key.PartitionStatistics)(PartitionStatisticsJson.read),
      nextRowId = if (version < FormatVersion.V3) 0L else nextRowId(json, snapshots),
      encryptionKeys = json.mapOf(Key.EncryptionKeys)(EncryptionKeyJson.read),
      expressions = expressions
    )
    TableMetadataCheck(json, metadata)
    metadata
  }

  /**
   * The expressions of the metadata.
   *
   * @param areCopied whether another writer has dropped them, so that they are from the copy in the properties. This
   *   writer may have added partition fields without expressions
   */
  private case class KnownExpressions(expressions: Vector[TableExpression], areCopied: Boolean) {
    def completed(specs: Vector[PartitionSpec], lastId: Int): Vector[TableExpression] =
      if (areCopied) TableExpression.completeNewer(specs, expressions, lastId) else expressions
  }

  private object KnownExpressions {
    val Empty: KnownExpressions = KnownExpressions(Vector.empty, areCopied = false)
  }

  private def readExpressions(json: JsonValue): KnownExpressions = {
    def copy = json.optional(Key.Properties).flatMap(_.optionalString(Key.ExpressionsCopy))
      .map(text => JsonValue.parse(s"property ${Key.ExpressionsCopy} in ${json.source}", text))
    def read(list: JsonValue): Vector[TableExpression] = {
      val expressions = list.map(TableExpressionJson.read)
      list.requireUnique(expressions.map(_.id))(id => s"Two expressions have the id $id")
      expressions
    }
    json.optional(Key.Expressions) match {
      case Some(list) =>
        val expressions = read(list)
        if (expressions.nonEmpty) copy.foreach(c => requireConsistent(list, expressions, read(c)))
        KnownExpressions(expressions, areCopied = false)
      case None => KnownExpressions(copy.fold(Vector.empty[TableExpression])(read), areCopied = true)
    }
  }

  /**
   * Rejects expressions that contradict their copy in the properties, because the statistics of a file are stored under
   * the ids of expressions. Another writer may have added or removed expressions without changing the copy.
   */
  private def requireConsistent(
      json: JsonValue,
      expressions: Vector[TableExpression],
      copies: Vector[TableExpression]
  ): Unit = {
    // Expressions can contradict each other only if they have the same id, or the same values of a partition field.
    def valuesOf(e: TableExpression) = (e.partitionFieldId, e.sourceIds, e.transform)
    val byId = copies.map(c => c.id -> c).toMap
    val byValues = copies.map(c => valuesOf(c) -> c).toMap
    for {
      e <- expressions
      c <- byId.get(e.id) ++ byValues.get(valuesOf(e))
      if e.contradicts(c)
    } json.fail(
      s"The expression ${e.name} (id ${e.id}) contradicts ${c.name} (id ${c.id}) in the copy of the expressions, the " +
        s"table property ${Key.ExpressionsCopy}. Another writer has changed the expressions, and the partition " +
        "values of the table may be stored under either id. Return the table to an earlier metadata file " +
        "(see Limits in docs/v4.md)"
    )
  }

  private def logEntry(json: JsonValue): SnapshotLogEntry =
    SnapshotLogEntry(json.long(Key.TimestampMs), json.long(Key.SnapshotId))

  private def formatVersion(json: JsonValue): FormatVersion = {
    val number = json(Key.Version).int
    if (number < FormatVersion.all.head.number) json(Key.Version).fail(s"There is no format version $number")
    FormatVersion.all.find(_.number == number).getOrElse(throw Unsupported(
      s"table format version $number in ${json.source}",
      s"This release supports versions ${FormatVersion.all.mkString(", ")}; use a later release for this table"
    ))
  }

  private def readUuid(json: JsonValue, version: FormatVersion): Option[UUID] = {
    val uuid = json.optional(Key.Uuid).map(_.uuid)
    if (uuid.isEmpty && version > FormatVersion.V1) json(Key.Uuid)
    uuid
  }

  private def readSchemas(json: JsonValue, version: FormatVersion): (Vector[Schema], Int) = {
    val singleSchema = if (version == FormatVersion.V1) json.optional(Key.V1Schema).map(SchemaJson.read) else None
    val listed = json.elementsOf(Key.Schemas).map(SchemaJson.read)
    val schemas = if (listed.isEmpty) singleSchema.toVector else listed
    if (schemas.isEmpty) json(Key.Schemas).fail("A table must have at least one schema")
    val current = (json.optional(Key.CurrentSchemaId).map(_.int), singleSchema) match {
      case (Some(id), _) => id
      case (None, Some(schema)) => schema.schemaId
      case (None, None) => json(Key.CurrentSchemaId).int
    }
    (schemas, requireListed(json, Key.CurrentSchemaId, current, schemas.map(_.schemaId)))
  }

  private def readSpecs(
      json: JsonValue,
      version: FormatVersion,
      expressions: Vector[TableExpression]
  ): (Vector[PartitionSpec], Int) = {
    val listed = json.elementsOf(Key.Specs).map(PartitionSpecJson.read(_, expressions))
    if (listed.isEmpty && version == FormatVersion.V1) {
      (Vector(PartitionSpec(V1SpecId, PartitionSpecJson.readFields(json(Key.V1PartitionSpec)))), V1SpecId)
    } else {
      if (listed.isEmpty) json(Key.Specs).fail("A table must have at least one partition spec")
      (listed, requireListed(json, Key.DefaultSpecId, json(Key.DefaultSpecId).int, listed.map(_.specId)))
    }
  }

  private def readOrders(json: JsonValue, version: FormatVersion): (Vector[SortOrder], Int) = {
    if (version > FormatVersion.V1) json(Key.SortOrders)
    val listed = json.elementsOf(Key.SortOrders).map(SortOrderJson.read)
    val orders = if (listed.isEmpty) Vector(SortOrder.Unsorted) else listed
    val default = json.optional(Key.DefaultSortOrderId) match {
      case None if version == FormatVersion.V1 => SortOrder.Unsorted.orderId
      case _ => json(Key.DefaultSortOrderId).int
    }
    // The sort order with id 0 is the unsorted order, even if the metadata does not list this sort order.
    val complete = if (orders.exists(_.orderId == default) || default != SortOrder.Unsorted.orderId) orders
    else SortOrder.Unsorted +: orders
    (complete, requireListed(json, Key.DefaultSortOrderId, default, complete.map(_.orderId)))
  }

  private def lastPartitionId(json: JsonValue, specs: Vector[PartitionSpec], version: FormatVersion): Int = {
    val highestUsed = specs.flatMap(_.fields).map(_.fieldId).foldLeft(PartitionSpec.FirstFieldId - 1)(_ max _)
    json.optional(Key.LastPartitionId) match {
      case None if version == FormatVersion.V1 => highestUsed
      case _ => math.max(highestUsed, json(Key.LastPartitionId).int)
    }
  }

  /**
   * Reads the branches and tags. The branch `main` always refers to the current snapshot, even if the metadata does not
   * list this branch (spec: `refs`).
   */
  private def readRefs(json: JsonValue, current: Option[Long]): Map[String, SnapshotRef] = {
    val refs = json.optional(Key.Refs).fold(Vector.empty[(String, JsonValue)])(_.entries).map { case (name, ref) =>
      name -> SnapshotRefJson.readChecked(name, ref)
    }.toMap
    current.filterNot(_ => refs.contains(SnapshotRef.Main))
      .fold(refs)(id => refs.updated(SnapshotRef.Main, SnapshotRef.Branch(id)))
  }

  /**
   * Reads `next-row-id`. The key is required, but some writers omit it. The result is always higher than all row ids
   * that the snapshots in the metadata have assigned. Expired snapshots need not be considered, because they have
   * assigned lower row ids than the newer snapshots in the metadata.
   */
  private def nextRowId(json: JsonValue, snapshots: Vector[Snapshot]): Long = {
    val assigned = snapshots.iterator
      .flatMap(s => s.firstRowId.map(_ + s.addedRows.getOrElse(0L))).foldLeft(0L)(_ max _)
    json.optional(Key.NextRowId).fold(assigned) { next =>
      if (next.long < 0) next.fail(s"It must be 0 or more, but is ${next.long}")
      math.max(next.long, assigned)
    }
  }

  private def requireListed(json: JsonValue, key: String, id: Int, ids: Vector[Int]): Int = {
    if (!ids.contains(id)) {
      json.optional(key).getOrElse(json).fail(s"$key is $id, but the only existing ids are ${ids.mkString(", ")}")
    }
    id
  }
}
