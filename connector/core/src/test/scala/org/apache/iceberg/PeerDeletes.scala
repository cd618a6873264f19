package org.apache.iceberg

import scala.collection.JavaConverters._

/** Gives access to Apache Iceberg's index of delete files, which is private to its package. */
object PeerDeletes {

  /**
   * Builds an index of delete files with their data sequence numbers.
   *
   * @return a function that returns the path and offset of each delete that applies to a data file with the given data
   *   sequence number
   */
  def index(
      deletes: Seq[(Long, DeleteFile)],
      specs: Map[Int, PartitionSpec],
      schemas: Map[Int, Schema]
  ): (Long, DataFile) => Set[(String, Option[Long])] = {
    deletes.foreach { case (number, file) => file.asInstanceOf[BaseFile[_]].setDataSequenceNumber(number) }
    val deleteIndex = DeleteFileIndex.builderFor(deletes.map(_._2).asJava)
      .specsById(specs.map { case (id, spec) => Int.box(id) -> spec }.asJava)
      .schemasById(schemas.map { case (id, schema) => Int.box(id) -> schema }.asJava)
      .build()
    (number, file) =>
      deleteIndex.forDataFile(number, file).map(d => d.location -> Option(d.contentOffset).map(_.longValue)).toSet
  }
}
