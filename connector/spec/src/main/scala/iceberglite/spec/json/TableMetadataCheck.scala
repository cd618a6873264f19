package iceberglite.spec.json

import iceberglite.spec.json.{TableMetadataKey => Key}
import iceberglite.spec.metadata.{SnapshotRef, TableMetadata}
import iceberglite.spec.partition.{SortOrder, Transform, Void}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, NestedType}
import iceberglite.spec.update.Snapshots.ClockToleranceMs

/**
 * Checks the consistency of a metadata file. A file with a contradiction is rejected, because two Iceberg
 * implementations might interpret the file differently. One implementation might then read wrong rows, or might not
 * find rows that the other implementation wrote.
 */
private[json] object TableMetadataCheck {

  /** Checks metadata. @param json the JSON of the metadata file, for the position of an error */
  def apply(json: JsonValue, m: TableMetadata): Unit = {
    checkSchemas(json, m)
    checkSnapshots(json, m)
    checkLog(json, Key.SnapshotLog, m.snapshotLog.iterator.map(_.timestampMs), m.lastUpdatedMs)
    checkLog(json, Key.MetadataLog, m.metadataLog.iterator.map(_.timestampMs), m.lastUpdatedMs)
  }

  private def checkSchemas(json: JsonValue, m: TableMetadata): Unit = {
    at(json, Key.Schemas).requireUnique(m.schemas.map(_.schemaId))(id => s"Two schemas have the id $id")
    at(json, Key.Specs).requireUnique(m.specs.map(_.specId))(id => s"Two partition specs have the id $id")
    at(json, Key.SortOrders).requireUnique(m.sortOrders.map(_.orderId))(id => s"Two sort orders have the id $id")
    m.sortOrders.find(o => o.isSorted == (o.orderId == SortOrder.Unsorted.orderId)).foreach { order =>
      at(json, Key.SortOrders).fail(
        s"Sort order ${order.orderId} has ${order.fields.size} fields, but only the unsorted order, 0, has no fields"
      )
    }
    for (e <- m.expressions; schema <- m.schemas.find(_.byId.contains(e.id))) at(json, Key.Expressions).fail(
      s"The expression ${e.name} has the id ${e.id}, which a column of schema ${schema.schemaId} also has"
    )
    // Only the default partition spec is checked, because the source columns of other partition specs may have been
    // dropped.
    m.spec.fields.filter(_.transform != Void).foreach { f =>
      checkSources(json, Key.DefaultSpecId, m.schema, f.sourceIds, f.transform, s"partition field ${f.name}")
    }
    m.sortOrder.fields.foreach { f =>
      checkSources(json, Key.DefaultSortOrderId, m.schema, f.sourceIds, f.transform, "the sort order")
    }
  }

  /**
   * Checks that the source columns of a partition field or sort field are valid in the current schema. The field
   * belongs to the default partition spec or the default sort order.
   */
  private def checkSources(
      json: JsonValue,
      key: String,
      schema: Schema,
      sources: Vector[Int],
      transform: Transform,
      user: String
  ): Unit = sources.foreach { id =>
    schema.byId.get(id) match {
      case None => at(json, key).fail(s"Field $id, the source of $user, is not in the current schema")
      case Some(NestedField(_, _, nested: NestedType, _, _, _, _)) =>
        at(json, key).fail(s"Field $id, the source of $user, is a $nested; sources must be primitive")
      case Some(f) if sources.size == 1 && !transform.canTransform(f.fieldType) =>
        at(json, key).fail(s"Field $id, the source of $user, is a ${f.fieldType}, which $transform does not support")
      case Some(_) => ()
    }
  }

  private def checkSnapshots(json: JsonValue, m: TableMetadata): Unit = {
    val ids = new java.util.HashSet[Long](m.snapshots.size * 2)
    m.snapshots.foreach { s =>
      if (!ids.add(s.snapshotId)) at(json, Key.Snapshots).fail(s"Two snapshots have the id ${s.snapshotId}")
      if (s.sequenceNumber > m.lastSequenceNumber) at(json, Key.Snapshots).fail(
        s"Snapshot ${s.snapshotId} has the sequence number ${s.sequenceNumber}, above the table's last, " +
          m.lastSequenceNumber
      )
      for (first <- s.firstRowId; added <- s.addedRows if first + added < 0) {
        at(json, Key.Snapshots).fail(
          s"Snapshot ${s.snapshotId} assigns $added row ids from $first on, beyond the highest id, ${Long.MaxValue}"
        )
      }
    }
    m.currentSnapshotId.filterNot(ids.contains(_)).foreach { id =>
      at(json, Key.CurrentSnapshotId).fail(s"No snapshot has the id $id")
    }
    m.refs.foreach { case (name, ref) =>
      if (!ids.contains(ref.snapshotId)) json(Key.Refs)(name).fail(s"No snapshot has the id ${ref.snapshotId}")
    }
    m.refs.get(SnapshotRef.Main).filterNot(main => m.currentSnapshotId.contains(main.snapshotId)).foreach { main =>
      json(Key.Refs).fail(
        s"The branch main refers to snapshot ${main.snapshotId}, but ${Key.CurrentSnapshotId} is " +
          m.currentSnapshotId.fold("absent")(_.toString)
      )
    }
  }

  /**
   * Checks that the timestamps of a log are ascending, and that none of them is after the table's last update. Small
   * differences between the clocks of two machines are tolerated.
   */
  private def checkLog(json: JsonValue, key: String, times: Iterator[Long], lastUpdatedMs: Long): Unit =
    (times ++ Iterator(lastUpdatedMs)).foldLeft(Long.MinValue) { (before, time) =>
      if (before - ClockToleranceMs < before && time < before - ClockToleranceMs) {
        at(json, key).fail(s"The times are not ascending: an entry with the time $before comes before $time")
      }
      time
    }

  /** Returns the JSON value to which an error refers: the value of a key or, if the key is absent, the whole file. */
  private def at(json: JsonValue, key: String): JsonValue = json.optional(key).getOrElse(json)
}
