package iceberglite.spark.read.aggregate

import java.util.IdentityHashMap

import scala.collection.mutable

import iceberglite.scan.FileScanTask
import iceberglite.spark.read.stats.ScanColumn
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.types.{Literal, LiteralConversion}
import iceberglite.spec.types.Literal.{DoubleLiteral, FloatLiteral}

/**
 * Determines the key of a file for GROUP BY. All rows of a file have the same key if the columns are identity partition
 * fields of the file's spec. For use by one thread.
 */
final private[aggregate] class GroupKeys(columns: Vector[ScanColumn]) {
  private type Key = Vector[Option[Literal]]
  private val positions = mutable.Map.empty[Int, Option[Vector[Int]]]
  private val known = new IdentityHashMap[PartitionTuple, Option[Key]]

  /**
   * Returns the key; absent if the partition does not determine it. Keys are cached for files that share a partition
   * tuple.
   */
  def of(task: FileScanTask): Option[Key] =
    if (columns.isEmpty) GroupKeys.One
    else positions.getOrElseUpdate(task.spec.specId, positionsIn(task.spec)).flatMap { at =>
      known.computeIfAbsent(task.file.partition, tuple => key(tuple, at))
    }

  private def positionsIn(spec: PartitionSpec): Option[Vector[Int]] = {
    val found = columns.flatMap(c => spec.identityPositions.get(c.id))
    if (found.size == columns.size) Some(found) else None
  }

  private def key(tuple: PartitionTuple, at: Vector[Int]): Option[Key] = {
    val values = columns.zip(at).map { case (column, position) =>
      tuple.values.lift(position).flatMap {
        case None => Some(None)
        case Some(value) => LiteralConversion.to(value, column.fieldType).map(v => Some(GroupKeys.normalized(v)))
      }
    }
    if (values.forall(_.isDefined)) Some(values.flatten) else None
  }
}

private object GroupKeys {
  private val One: Option[Vector[Option[Literal]]] = Some(Vector.empty)

  /** Converts -0.0 to 0.0, because both are in one group. */
  private def normalized(value: Literal): Literal = value match {
    case FloatLiteral(v) if v == 0.0f => FloatLiteral(0.0f)
    case DoubleLiteral(v) if v == 0.0 => DoubleLiteral(0.0)
    case other => other
  }
}
