package iceberglite.spark.read.files

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.SparkSession

import iceberglite.storage.{FileIO, HadoopFileIO}

private[iceberglite] object TableStorage {

  /**
   * Returns the Hadoop configuration for the files of a table, with the storage settings of its catalog.
   *
   * @param io the access to the files
   */
  def configuration(io: FileIO, session: SparkSession): Configuration = io.unguarded match {
    case io: HadoopFileIO => new Configuration(io.configuration)
    case _ => session.sessionState.newHadoopConf()
  }
}
