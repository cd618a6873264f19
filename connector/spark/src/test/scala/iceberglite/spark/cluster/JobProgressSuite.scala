package iceberglite.spark.cluster

import java.util.Properties

import org.apache.spark.scheduler.SparkListenerJobStart
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.SharedSession

/** Checks which activities [[JobProgress]] keeps. An activity is a numbered description of work, such as a job. */
class JobProgressSuite extends AnyFunSuite with SharedSession {

  test("the newest 1000 activities are kept under their numbers, and an older number returns nothing") {
    val progress = new JobProgress(spark.sparkContext)
    def begin(number: Int): Unit = {
      val properties = new Properties
      properties.setProperty(ClusterJob.Description, s"activity $number")
      progress.onJobStart(SparkListenerJobStart(number, 0L, Nil, properties))
    }
    assert(Option(progress.activity(1)).isEmpty && Option(progress.following(0)).isEmpty)
    (1 to 1000).foreach(begin)
    assert(progress.activity(1).description == "activity 1" && progress.following(0).number == 1)
    (1001 to 1010).foreach(begin)
    Seq(0, 1, 10, 1011).foreach(number => assert(Option(progress.activity(number)).isEmpty, number))
    assert(progress.activity(11).description == "activity 11" && progress.activity(1010).number == 1010)
    assert(Seq(0, 5, 10).map(progress.following(_).number) == Seq(11, 11, 11))
    assert(progress.following(11).number == 12 && Option(progress.following(1010)).isEmpty)
  }
}
