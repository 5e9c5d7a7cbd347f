CREATE TABLE "app_scores" (
	"app" text NOT NULL,
	"board" text NOT NULL,
	"lowest" boolean NOT NULL,
	"player" text NOT NULL,
	"score" double precision NOT NULL,
	"at" bigint NOT NULL,
	CONSTRAINT "app_scores_app_board_lowest_player_pk" PRIMARY KEY("app","board","lowest","player")
);
--> statement-breakpoint
CREATE INDEX "app_scores_order" ON "app_scores" USING btree ("app","board","lowest","score");